// Follows a wiki from Node: says on standard output which pages changed, and goes on where it ended.
//
//     node follow.mjs CURSOR-FILE [wikiq options]
//
// Needs Node 18 and `wikiq`, no package. The cursor is written after a change was handled; another index
// id means that the index was made anew, and everything is told again.
import { spawn, spawnSync } from "node:child_process";
import { existsSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { createInterface } from "node:readline";

const [cursorFile, ...options] = process.argv.slice(2);

function status() {
  const told = spawnSync("wikiq", ["status", "--json", ...options], { encoding: "utf8" });
  if (!told.stdout) throw new Error(told.stderr.trim());
  return JSON.parse(told.stdout);
}

function readCursor(indexId) {
  if (!existsSync(cursorFile)) return 0;
  const [seenId, generation] = readFileSync(cursorFile, "utf8").trim().split(":");
  return seenId === indexId ? Number(generation) : 0;
}

function writeCursor(indexId, generation) {
  writeFileSync(`${cursorFile}.new`, `${indexId}:${generation}\n`);
  renameSync(`${cursorFile}.new`, cursorFile);
}

async function follow() {
  const indexId = status().index_id;
  let since = readCursor(indexId);
  const words = ["changes", "--since", String(since), "--follow", "--ndjson", ...options];
  const wikiq = spawn("wikiq", words, { stdio: ["ignore", "pipe", "inherit"] });
  process.on("SIGTERM", () => wikiq.kill());
  for await (const line of createInterface({ input: wikiq.stdout })) {
    const change = JSON.parse(line);
    // All rows of a generation have come only when the next one begins: until then it is not passed.
    if (change.generation > since + 1) writeCursor(indexId, (since = change.generation - 1));
    console.log(`${change.op} ${change.path} at ${change.generation}`);
  }
}

await follow();
