// Builds the page: `node build.mjs [--out FOLDER]`. The server needs only this folder.
import { cp, mkdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { gzip } from "node:zlib";
import * as esbuild from "esbuild";

const here = dirname(fileURLToPath(import.meta.url));
const given = (name, otherwise) => {
  const at = process.argv.indexOf(name);
  return at < 0 ? otherwise : process.argv[at + 1];
};
const out = resolve(given("--out", join(here, "..", "src", "paddock", "serve", "page")));
const work = `${out}.building`; // a failed build keeps the previous one

// Every material of the page brings its own shaders (RawShaderMaterial): those of three.js, a fifth of its code, are left
// out of the bundle. A material that needs them fails to compile, which the browser tests report.
const THREE_SHADER = /^(?:var|const) \w+ = "(?:[^"\\\n]|\\.)*\\n(?:[^"\\\n]|\\.)*";$/gm;
const LEAST_SHADERS = 100; // fewer: three.js has changed
// Parts of three.js that the page has no use for, and what the renderer needs of them: virtual reality, maps of
// surroundings, and shadow maps (the page has its own).
const UNUSED = {
  "class PMREMGenerator": "{}",
  "class WebXRManager extends EventDispatcher":
    "{ enabled = false; isPresenting = false; getEnvironmentBlendMode() {} setAnimationLoop() {} dispose() {} }",
  "function WebGLShadowMap( renderer, objects, capabilities )": "{ this.enabled = false; this.render = () => {}; }",
};
const withoutParts = {
  name: "without unused parts of three.js",
  setup(build) {
    build.onLoad({ filter: /[/\\]three\.module\.js$/ }, async ({ path }) => {
      let found = 0;
      let contents = (await readFile(path, "utf8")).replace(THREE_SHADER, (line) => {
        found += 1;
        return `${line.slice(0, line.indexOf('"'))}"";`;
      });
      if (found < LEAST_SHADERS)
        throw new Error(`${found} shaders found in ${path}; at least ${LEAST_SHADERS} expected`);
      for (const [head, rest] of Object.entries(UNUSED)) {
        const start = contents.indexOf(`\n${head} {\n`);
        const end = contents.indexOf("\n}\n", start);
        if (start < 0 || end < 0) throw new Error(`${head} not found in ${path}`);
        contents = `${contents.slice(0, start)}\n${head} ${rest}${contents.slice(end + 2)}`;
      }
      return { contents, loader: "js" };
    });
  },
};

const options = {
  absWorkingDir: here,
  entryPoints: {
    page: "src/main.tsx",
    worker: "src/net/worker.ts",
    "replay-worker": "src/replay/worker.ts",
    style: "src/style/index.css",
    late: "src/style/late.css",
  },
  outdir: join(work, "assets"),
  bundle: true,
  splitting: true,
  format: "esm",
  target: ["es2022"],
  jsx: "automatic",
  jsxImportSource: "preact",
  minify: true,
  charset: "utf8", // shorter than escapes
  metafile: true,
  legalComments: "linked",
  entryNames: "[name]",
  chunkNames: "chunk-[name]-[hash]",
  plugins: [withoutParts],
  loader: { ".svg": "dataurl", ".glsl": "text" },
  logLevel: "warning",
};

// The initial load: page, styles and the network Worker, with their static imports.
const FIRST = ["src/main.tsx", "src/style/index.css", "src/net/worker.ts"];

function initialFiles(metafile) {
  const outputs = metafile.outputs;
  const entries = Object.keys(outputs).filter((name) => FIRST.includes(outputs[name].entryPoint));
  if (entries.length !== FIRST.length) throw new Error(`entry points missing: ${FIRST.join(", ")}`);
  const found = new Set();
  const visit = (name) => {
    if (found.has(name)) return;
    found.add(name);
    for (const one of outputs[name].imports) if (one.kind === "import-statement") visit(one.path);
  };
  entries.forEach(visit);
  return [...found];
}

async function compressed(metafile) {
  const sizes = {};
  for (const name of Object.keys(metafile.outputs)) {
    if (!/\.(js|css)$/.test(name)) continue;
    const path = resolve(here, name);
    const bytes = await promisify(gzip)(await readFile(path), { level: 9 });
    await writeFile(`${path}.gz`, bytes);
    sizes[name] = bytes.length;
  }
  return sizes;
}

// As sent: index.html and favicon.svg are not compressed.
async function initialBytes(metafile, sizes) {
  const written = await Promise.all(["index.html", "favicon.svg"].map((name) => readFile(join(work, name))));
  const built = initialFiles(metafile).map((name) => sizes[name] ?? 0);
  return [...built, ...written.map((one) => one.length)].reduce((sum, size) => sum + size, 0);
}

async function finish(metafile) {
  await mkdir(work, { recursive: true });
  const html = await readFile(join(here, "index.html"), "utf8");
  await writeFile(join(work, "index.html"), html.replace(/<!-- .*? -->|\n\s*/g, "")); // no comments, no indentation
  await cp(join(here, "public"), work, { recursive: true });
  const sizes = await compressed(metafile);
  const initial = await initialBytes(metafile, sizes);
  await writeFile(join(work, "sizes.json"), JSON.stringify({ initial, files: Object.keys(sizes).length }));
  console.log(`page: ${(initial / 1000).toFixed(0)} kB gzipped before the first frame`);
}

try {
  await rm(work, { recursive: true, force: true });
  const { metafile } = await esbuild.build(options);
  await finish(metafile);
  await rm(out, { recursive: true, force: true });
  await rename(work, out);
} catch (error) {
  await rm(work, { recursive: true, force: true });
  if (!error.errors) console.error(`error: ${error.message}`); // esbuild prints its own errors
  process.exitCode = 1;
}
