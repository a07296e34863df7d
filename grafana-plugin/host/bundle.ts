import { build } from 'esbuild';
import { fileURLToPath } from 'node:url';

const here = (path: string) => fileURLToPath(new URL(path, import.meta.url));

/** Bundles the host page into `host/out`: host.js with Grafana's published frontend packages, and host.css. */
export async function bundlePage(): Promise<string> {
  const out = here('./out');
  await build({
    entryPoints: [here('./page/main.tsx')],
    outfile: `${out}/host.js`,
    bundle: true,
    format: 'iife',
    target: 'es2022',
    jsx: 'transform',
    tsconfig: here('./tsconfig.json'),
    logLevel: 'error',
    define: {
      'process.env.NODE_ENV': '"development"',
      'process.env': '{}',
      global: 'globalThis',
      // SystemJS' AMD loader makes a global `define`, at which bundled UMD packages would register themselves.
      define: 'undefined',
    },
    loader: { '.svg': 'dataurl', '.woff2': 'dataurl', '.ttf': 'dataurl' },
  });
  return out;
}
