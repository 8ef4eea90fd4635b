// Bundles the page into dist/; with --tests, the tests into build/tests/ for `node --test`. The types of screens and events are
// made from their schema first; with --check it is only said whether they are up to date.
import { build } from "esbuild";
import { compile } from "json-schema-to-typescript";
import { copyFile, mkdir, readFile, readdir, rm, writeFile } from "node:fs/promises";

const bundled = ["jspsych", "auto-bind", "random-words", "seedrandom"];
const jspsychLicence = "jspsych-LICENSE.txt"; // the npm package of jsPsych comes without its licence text

async function licence(name) {
  const folder = `node_modules/${name}`;
  const { version } = JSON.parse(await readFile(`${folder}/package.json`, "utf8"));
  const file = (await readdir(folder)).find((entry) => /^licen[cs]e/i.test(entry));
  const text = file ? await readFile(`${folder}/${file}`, "utf8") : await written(name, folder);
  return `${name} ${version}\n\n${text.trim()}\n`;
}

async function written(name, folder) {
  if (name === "jspsych") return readFile(jspsychLicence, "utf8");
  const readme = await readFile(`${folder}/README.md`, "utf8");
  const start = readme.search(/^(#+ *)?licen[cs]e/im);
  if (start < 0) throw new Error(`${name} says nowhere under which licence it may be shipped`);
  return readme.slice(start);
}

// The exported page: the same, with its files beside it, and a script of the researcher's and the study before ours.
function standalone(html) {
  const ours = '<script defer src="static/app.js"></script>';
  const theirs = ["<script src=\"save.js\"></script>", "<script defer src=\"study.js\"></script>", '<script defer src="app.js"></script>'];
  if (!html.includes(ours)) throw new Error(`index.html has no ${ours}`);
  return html.replace(ours, theirs.join("\n    ")).replace("static/app.css", "app.css");
}

const types = "src/screens.ts";

async function madeTypes() {
  const schema = JSON.parse(await readFile("../../sessions/screens.schema.json", "utf8"));
  const bannerComment = "// Made from ../../../sessions/screens.schema.json by build.mjs: change experiment/sessions/session_schema.py or study/screens.py, not this.";
  return compile(schema, "Session", { bannerComment, additionalProperties: false, style: { printWidth: 130 } });
}

async function check() {
  if ((await readFile(types, "utf8").catch(() => "")) === (await madeTypes())) return;
  console.error(`${types} is not what ../../sessions/screens.schema.json says; make it anew with  npm run build`);
  process.exitCode = 1;
}

async function page() {
  await writeFile(types, await madeTypes());
  await rm("dist", { recursive: true, force: true });
  await mkdir("dist", { recursive: true });
  await build({
    entryPoints: { app: "src/main.ts", standalone: "src/standalone.ts" },
    outdir: "dist",
    bundle: true,
    minify: true,
    format: "iife",
    target: ["es2022"],
    legalComments: "none",
    logLevel: "warning",
  });
  await copyFile("index.html", "dist/index.html");
  await writeFile("dist/standalone.html", standalone(await readFile("index.html", "utf8")));
  const texts = await Promise.all(bundled.map(licence));
  await writeFile("dist/LICENSES.txt", texts.join(`\n${"-".repeat(72)}\n\n`));
}

async function tests() {
  await rm("build/tests", { recursive: true, force: true });
  const files = (await readdir("tests")).filter((name) => name.endsWith(".test.ts"));
  await build({
    entryPoints: files.map((name) => `tests/${name}`),
    outdir: "build/tests",
    outExtension: { ".js": ".mjs" },
    bundle: true,
    platform: "node",
    format: "esm",
    external: ["ajv"],
    banner: { js: "globalThis.window ??= {};" }, // jsPsych looks for it as it loads
    target: ["node20"],
    logLevel: "warning",
  });
}

const asked = { "--tests": tests, "--check": check };
await (asked[process.argv[2]] ?? page)();
