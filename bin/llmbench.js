#!/usr/bin/env node
// The launcher of checkout and package alike: plain JavaScript, so that an old Node gets a sentence and not a stack trace.
import { existsSync } from 'node:fs';
import * as nodeModule from 'node:module';

const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
if (major < 22 || (major === 22 && minor < 19)) {
  console.error(
    `llmbench needs Node 22.19 or newer and this is ${process.version}: install a newer Node and try again`,
  );
  process.exit(2);
}
nodeModule.enableCompileCache?.();

// A checkout has the sources, a package only what they compile to; sources win, so that no stale build is ever run.
const source = new URL('../exporter/cli/main.ts', import.meta.url);
const entry = existsSync(source) ? source : new URL('../dist/exporter/cli/main.js', import.meta.url);
const { main } = await import(entry.href);
await main(process.argv.slice(2));
