"""coverage.py COVERED FUNCTIONS - the share of lines that were run, by file, from the output of llvm-cov report
-show-functions; status 1 when a file of the list COVERED is below its floor."""
import sys

# A line of the list: a file, and nothing more (all of its functions), "only" or "but" and names of functions.
covered, functions = sys.argv[1:3]
floor, files = 90.0, []
for line in open(covered):
    words = line.split("#")[0].split()
    if words and words[0] == "floor":
        floor = float(words[1])
    elif words:
        files.append((words[0], words[1] if len(words) > 1 else "all", set(words[2:])))

lines = {}  # file: {function: (lines, missed)}
of = None
for line in open(functions):
    words = line.split()
    if line.startswith("File '"):
        of = lines.setdefault(line.split("'")[1], {})
    elif of is not None and len(words) >= 7 and words[1].isdigit() and words[0] != "TOTAL":
        name = words[0].split(":")[-1]
        count, missed = int(words[4]), int(words[5])
        if name not in of or missed < of[name][1]:  # the same function of another target
            of[name] = (count, missed)

low = 0
total = [0, 0]
for path, mode, names in files:
    found = next((f for full, f in lines.items() if full.endswith("/" + path)), {})
    unknown = names - set(found)
    if not found or unknown:
        print("%-34s is not there%s" % (path, ": " + " ".join(sorted(unknown)) if unknown else ""))
        low += 1
        continue
    taken = {n: v for n, v in found.items() if mode == "all" or (n in names) == (mode == "only")}
    count, missed = sum(v[0] for v in taken.values()), sum(v[1] for v in taken.values())
    total[0] += count
    total[1] += missed
    share = 100.0 * (count - missed) / count
    worst = sorted(taken, key=lambda n: -taken[n][1])[:4]
    never = ", ".join("%s %d" % (n, taken[n][1]) for n in worst if taken[n][1] > 0)
    print("%-34s %5.1f %% of %4d lines%s%s" % (path, share, count, ", BELOW THE FLOOR" if share < floor else "",
                                              "; not run: " + never if share < floor + 3 and never else ""))
    low += share < floor
print("%d files, %.1f %% of %d lines; %d below the floor of %g %%"
      % (len(files), 100.0 * (total[0] - total[1]) / max(total[0], 1), total[0], low, floor))
sys.exit(low > 0)
