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
    // Version 5 and its way to version 6, as @grafana/ui has them; the plugin itself brings version 6.
    alias: {
      'react-router-dom-v5': here('../node_modules/@grafana/ui/node_modules/react-router-dom'),
      'react-router-dom': here('../node_modules/@grafana/ui/node_modules/react-router-dom'),
      'react-router-dom-v5-compat': here('../node_modules/@grafana/ui/node_modules/react-router-dom-v5-compat'),
    },
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
