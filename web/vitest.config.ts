import { defineConfig } from "vitest/config";

// Tests that need a DOM start with "// @vitest-environment happy-dom": creating one takes longer than most tests.
export default defineConfig({
  test: {
    include: ["test/**/*.test.{ts,tsx}"],
    pool: "threads",
    poolOptions: { threads: { maxThreads: 2 } },
    isolate: false,
    setupFiles: ["test/fresh.ts"],
  },
});
