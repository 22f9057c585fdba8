// page.mjs - opens pages of `neuropmd view` in Chromium and holds what they show against the program.
//
//   node page.mjs CHROMIUM PROGRAM FOLDER MODEL...
//
// For each MODEL there are FOLDER/MODEL.safetensors and FOLDER/MODEL.html. TAP lines; the exit status is the verdict.
// With PICTURES=DIR screenshots are left there, light and dark.
import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { open, Page } from "./browser.mjs";

const [chromium, program, folder, ...models] = process.argv.slice(2);
let number = 0, failed = 0;
function check(name, good, found) {
  number++;
  failed += good ? 0 : 1;
  console.log(`${good ? "ok" : "not ok"} ${number} - ${name}${good ? "" : ": " + JSON.stringify(found)}`);
}

/* The middle of a panel's picture, moved by a share of its height. */
const spot = (page, k, dx = 0, dy = 0) =>
  page.value(`(() => { const b = neuropmd.panel(${k}).widget.canvas.getBoundingClientRect();
    return [b.left + b.width / 2 + ${dx} * b.height, b.top + b.height / 2 + ${dy} * b.height]; })()`);

/* What the program says at a whole point, or at the others given one factor. */
function asked(model, row, given) {
  const points = join(folder, "asked.csv"), out = join(folder, "asked.out.csv");
  writeFileSync(points, row.join(",") + "\n");
  execFileSync(program, ["density", join(folder, model + ".safetensors"), "--points", points, "--out", out, "--quiet",
    ...(given ? ["--given", String(given)] : [])]);
  return Number(readFileSync(out, "utf8"));
}

/* The value on the page at a node against the program's, both as logs. A value is kept to half a step; marginal densities
 * are sums over nodes, of which the page says how far they may be off: ten times that, since it is measured at few. */
async function agrees(page, model, k, node, row, given) {
  const shown = await page.value(`neuropmd.log(${k}, ${node})`), told = asked(model, row, given);
  const { step, sum_error } = await page.value("({ step: neuropmd.head.step, sum_error: neuropmd.head.sum_error })");
  const bound = step / 2 + 1e-4 + (given ? 10 * sum_error + 2e-3 : 0);
  check(`${model}: log density ${shown.toFixed(4)} is the program's`, Math.abs(shown - told) <= bound, { shown, told, bound });
}

async function pairPage(page, model) {
  const before = await page.value("neuropmd.pixels(1)"), first = await page.value("neuropmd.state.pick[0]");
  await page.click(...(await spot(page, 0, 0.14, -0.11)));
  const after = await page.value("neuropmd.pixels(1)"), second = await page.value("neuropmd.state.pick[0]");
  check(`${model}: a click picks another place`, first !== second, { first, second });
  check(`${model}: and changes the conditional map`, before.sum !== after.sum, { before, after });
  const other = await page.value(`neuropmd.head.factors[1].nodes >> 1`);
  const at = await page.value(`[...neuropmd.place(0, neuropmd.state.pick[0]), ...neuropmd.place(1, ${other})]`);
  await agrees(page, model, 1, other, at, 1);
  await page.value("neuropmd.panel(0).widget.canvas.focus()");
  for (let i = 0; i < 4; i++) await page.key("ArrowLeft");
  await page.key("Enter");
  const third = await page.value("neuropmd.state.pick[0]");
  check(`${model}: Enter picks the place in the middle, or near it`, third !== second, { second, third });
  await page.key("s", "s");
  check(`${model}: S swaps the factors`, (await page.value("neuropmd.state.given")) === 1);
  await page.key("s", "s");
}

async function onePage(page, model) {
  const node = await page.value("neuropmd.panel(0).logs.length >> 2");
  await agrees(page, model, 0, node, await page.value(`neuropmd.place(0, ${node})`));
}

async function lookAt(browser, model) {
  const file = join(folder, model + ".html");
  const page = await Page.load(browser, file);
  const panels = await page.value("document.querySelectorAll('.panel:not([hidden])').length");
  for (let k = 0; k < panels; k++) {
    const { colours } = await page.value(`neuropmd.pixels(${k})`);
    check(`${model}: picture ${k + 1} is not blank`, colours > 20, { colours });
  }
  await (panels === 2 ? pairPage : onePage)(page, model);

  await page.move(...(await spot(page, 0, 0.14, -0.11))); // not the middle: a torus has a hole there
  const tip = await page.value("neuropmd.panel(0).stage.querySelector('.tip').innerText");
  check(`${model}: the pointer reads values with their unit`, /× uniform/.test(tip) && / per /.test(tip), tip);

  const still = await page.value("neuropmd.pixels(0)");
  await page.value("neuropmd.panel(0).widget.canvas.focus()");
  for (let i = 0; i < 4; i++) await page.key("ArrowLeft");
  const turned = await page.value("neuropmd.pixels(0)");
  check(`${model}: arrow keys turn or move`, still.sum !== turned.sum, { still, turned });
  await page.key("l", "l");
  check(`${model}: L makes the scale logarithmic`, (await page.value("neuropmd.state.log")) === true);
  await page.key("?", "?");
  check(`${model}: ? opens the help`, await page.value("document.getElementById('help').open"));
  await page.value("document.getElementById('help').close()");
  const named = await page.value("[...document.querySelectorAll('canvas[role], input, select')].every((e) => e.getAttribute('aria-label') || e.closest('label'))");
  check(`${model}: pictures and controls have names`, named);

  const colour = "getComputedStyle(document.body).backgroundColor", light = await page.value(colour);
  await page.scheme("dark");
  const dark = await page.value(colour);
  await page.value("(() => { const t = document.getElementById('theme'); t.value = 'light'; t.dispatchEvent(new Event('change')); })()");
  check(`${model}: dark follows the system, and the switch rules`, dark !== light && (await page.value(colour)) === light, { light, dark });

  const outside = page.requests.filter((url) => url !== "file://" + file && !url.startsWith("data:"));
  check(`${model}: no request leaves the page`, outside.length === 0, outside);
  check(`${model}: no complaint on the console`, page.complaints.length === 0, page.complaints);
  await browser.send("Target.closeTarget", { targetId: page.targetId });
}

async function picture(browser, model, scheme) {
  const page = await Page.load(browser, join(folder, model + ".html"), { scheme, height: 860 });
  writeFileSync(join(process.env.PICTURES, `${model}_${scheme}.png`), await page.picture());
  await browser.send("Target.closeTarget", { targetId: page.targetId });
}

const browser = await open(chromium);
try {
  for (const model of models) {
    await lookAt(browser, model);
    for (const scheme of process.env.PICTURES ? ["light", "dark"] : []) await picture(browser, model, scheme);
  }
} catch (error) {
  check("the pages are looked at to the end", false, error.message);
} finally {
  await browser.close();
}
console.log(`${number - failed} passed, ${failed} failed`);
process.exit(failed ? 1 : 0);
