// browser.mjs - Chromium without a window, driven over its pipe by the DevTools protocol; nothing but node is needed.
//
// Every request, console message and failure of the page is kept. WebGL is drawn in software.
import { spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const FLAGS = [
  "--headless=new", "--remote-debugging-pipe", "--no-sandbox", "--use-gl=angle", "--use-angle=swiftshader",
  "--enable-unsafe-swiftshader", "--no-first-run", "--disable-background-networking", "--disable-component-update",
  "--disable-default-apps", "--disable-extensions", "--disable-sync", "--hide-scrollbars", "--force-color-profile=srgb",
];

export async function open(program) {
  const folder = mkdtempSync(join(tmpdir(), "neuropmd_view."));
  const child = spawn(program, [...FLAGS, `--user-data-dir=${folder}`, "about:blank"], {
    stdio: ["ignore", "ignore", "ignore", "pipe", "pipe"],
  });
  const ended = new Promise((resolve) => child.on("exit", resolve));
  const waiting = new Map(), listeners = [];
  let last = 0, rest = Buffer.alloc(0);
  child.stdio[4].on("data", (bytes) => {
    rest = Buffer.concat([rest, bytes]);
    for (let end; (end = rest.indexOf(0)) >= 0; rest = rest.subarray(end + 1)) {
      const message = JSON.parse(rest.subarray(0, end).toString());
      const call = waiting.get(message.id);
      if (!call) listeners.forEach((hear) => hear(message));
      else if (message.error) call.reject(new Error(`${call.method}: ${message.error.message}`));
      else call.resolve(message.result);
      waiting.delete(message.id);
    }
  });
  const send = (method, params = {}, sessionId) =>
    new Promise((resolve, reject) => {
      const id = ++last;
      waiting.set(id, { resolve, reject, method });
      child.stdio[3].write(JSON.stringify({ id, method, params, sessionId }) + "\0");
    });
  ended.then(() => waiting.forEach((call) => call.reject(new Error("the browser ended"))));
  const close = async () => {
    send("Browser.close").catch(() => {});
    await Promise.race([ended, new Promise((r) => setTimeout(r, 3000))]);
    child.kill("SIGKILL");
    await ended;
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
  };
  return { send, listeners, close };
}

export class Page {
  static async load(browser, file, { width = 1280, height = 800, scheme = "light" } = {}) {
    const page = new Page();
    const { targetId } = await browser.send("Target.createTarget", { url: "about:blank" });
    const { sessionId } = await browser.send("Target.attachToTarget", { targetId, flatten: true });
    Object.assign(page, { browser, sessionId, targetId, requests: [], complaints: [] });
    browser.listeners.push((m) => m.sessionId === sessionId && page.hear(m));
    for (const domain of ["Page", "Runtime", "Network", "Log"]) await page.send(`${domain}.enable`);
    await page.send("Emulation.setDeviceMetricsOverride", { width, height, deviceScaleFactor: 1, mobile: false });
    await page.scheme(scheme);
    await page.send("Page.navigate", { url: "file://" + file });
    await page.until("window.neuropmd && window.neuropmd.ready", 60000);
    return page;
  }
  send(method, params) {
    return this.browser.send(method, params, this.sessionId);
  }
  hear({ method, params }) {
    if (method === "Network.requestWillBeSent") this.requests.push(params.request.url);
    if (method === "Runtime.exceptionThrown")
      this.complaints.push(params.exceptionDetails.exception?.description || params.exceptionDetails.text);
    if (method === "Runtime.consoleAPICalled" && ["error", "warning", "assert"].includes(params.type))
      this.complaints.push(params.args.map((a) => a.value ?? a.description).join(" "));
    if (method === "Log.entryAdded" && ["error", "warning"].includes(params.entry.level)) this.complaints.push(params.entry.text);
  }
  scheme(value) {
    return this.send("Emulation.setEmulatedMedia", { features: [{ name: "prefers-color-scheme", value }] });
  }
  async value(expression) {
    const { result, exceptionDetails } = await this.send("Runtime.evaluate", {
      expression, returnByValue: true, awaitPromise: true,
    });
    if (exceptionDetails) throw new Error(exceptionDetails.exception?.description || exceptionDetails.text);
    return result.value;
  }
  async until(expression, limit = 10000) {
    for (const start = Date.now(); Date.now() - start < limit; await new Promise((r) => setTimeout(r, 50)))
      if (await this.value(`Boolean(${expression})`)) return;
    throw new Error(`waited ${limit} ms for ${expression}; the page says: ${this.complaints.join(" | ") || "nothing"}`);
  }
  frame() {
    return this.value("new Promise((r) => requestAnimationFrame(() => requestAnimationFrame(() => r(1))))");
  }
  async click(x, y) {
    for (const type of ["mouseMoved", "mousePressed", "mouseReleased"])
      await this.send("Input.dispatchMouseEvent", { type, x, y, button: type === "mouseMoved" ? "none" : "left", clickCount: 1 });
    await this.frame();
  }
  async move(x, y) {
    await this.send("Input.dispatchMouseEvent", { type: "mouseMoved", x, y });
    await this.frame();
  }
  async key(key, text) {
    const code = { key, windowsVirtualKeyCode: { ArrowLeft: 37, ArrowUp: 38, ArrowRight: 39, ArrowDown: 40, Enter: 13, Tab: 9 }[key] };
    await this.send("Input.dispatchKeyEvent", { type: text ? "keyDown" : "rawKeyDown", ...code, text });
    await this.send("Input.dispatchKeyEvent", { type: "keyUp", ...code });
    await this.frame();
  }
  async picture() {
    await this.frame();
    return Buffer.from((await this.send("Page.captureScreenshot", { format: "png" })).data, "base64");
  }
}
