import { build, type Plugin } from 'esbuild';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { grafanaVersion, packageFolder, packageOfUi, PACKAGES_ROOT } from './packages.ts';

const here = (path: string) => fileURLToPath(new URL(path, import.meta.url));

/**
 * Bundles the host page into `host/out`: host.js with Grafana's published frontend packages, and host.css. Grafana runs React
 * in production mode; in development mode, React reports what is wrong with components, and tests fail on it.
 */
export async function bundlePage(mode: 'production' | 'development'): Promise<string> {
  const out = here('./out');
  await build({
    entryPoints: [here('./page/main.tsx')],
    outfile: `${out}/host.js`,
    bundle: true,
    // The browser reads it for every test.
    minifyWhitespace: true,
    minifySyntax: true,
    format: 'iife',
    target: 'es2022',
    jsx: 'transform',
    tsconfig: here('./tsconfig.json'),
    logLevel: 'error',
    plugins: [packagesOfTheLine],
    alias: {
      // Version 5 and its way to version 6, as @grafana/ui has them; the plugin itself brings version 6.
      'react-router-dom-v5': packageOfUi('react-router-dom'),
      'react-router-dom': packageOfUi('react-router-dom'),
      'react-router-dom-v5-compat': packageOfUi('react-router-dom-v5-compat'),
      // The package does not export this file.
      'grafana-runtime-plugin-page': join(packageFolder('@grafana/runtime'), 'dist/esm/components/PluginPage.mjs'),
    },
    define: {
      'process.env.NODE_ENV': JSON.stringify(mode),
      'process.env.GRAFANA_VERSION': JSON.stringify(grafanaVersion()),
      'process.env': '{}',
      global: 'globalThis',
      // SystemJS' AMD loader makes a global `define`, at which bundled UMD packages would register themselves.
      define: 'undefined',
    },
    loader: { '.svg': 'dataurl', '.woff2': 'dataurl', '.ttf': 'dataurl' },
  });
  return out;
}

/** What the page's own files import comes from the packages of the host's line, where they are. */
const packagesOfTheLine: Plugin = {
  name: 'packages of the line',
  setup({ onResolve, resolve }) {
    onResolve({ filter: /^[^./]/ }, ({ path, importer, kind }) =>
      importer.startsWith(here('./page/')) ? resolve(path, { kind, resolveDir: PACKAGES_ROOT }) : undefined
    );
  },
};
