import { existsSync, readdirSync, readFileSync } from 'fs';
import { join } from 'path';
import webpack, { type Compiler, type Module } from 'webpack';

/** The file in `dist/` with the licenses of what is bundled. */
export const LICENSES_FILE = 'THIRD_PARTY_LICENSES.txt';

interface Package {
  name: string;
  version: string;
  license: string;
  text: string;
}

/** Writes the license of every bundled package beside the bundles: minified code has lost its notices. */
export class ThirdPartyLicenses {
  apply(compiler: Compiler): void {
    compiler.hooks.thisCompilation.tap('ThirdPartyLicenses', (compilation) => {
      const stage = webpack.Compilation.PROCESS_ASSETS_STAGE_ADDITIONAL;
      compilation.hooks.processAssets.tap({ name: 'ThirdPartyLicenses', stage }, () => {
        const folders = new Set([...compilation.modules].flatMap(files).flatMap(packageFolder));
        const packages = new Map(
          [...folders].sort().map((folder) => [folder.split('/node_modules/').at(-1), read(folder)])
        );
        const source = new webpack.sources.RawSource([...packages.values()].map(entry).join('\n'));
        compilation.emitAsset(LICENSES_FILE, source);
      });
    });
  }
}

/** The files of a module; a concatenated one holds several. */
function files(module: Module): string[] {
  const { modules, resource } = module as { modules?: Module[]; resource?: string };
  return modules ? modules.flatMap(files) : resource ? [resource] : [];
}

/** The folder of the package that a file is of; none for the plugin's own files and for those that only webpack has. */
function packageFolder(file: string): string[] {
  const folder = /^.*[\\/]node_modules[\\/](?:@[^\\/]+[\\/])?[^\\/]+/.exec(file)?.[0];
  return folder && existsSync(join(folder, 'package.json')) ? [folder.replaceAll('\\', '/')] : [];
}

function read(folder: string): Package {
  const { name, version, license } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
  const file = readdirSync(folder).find((one) => /^licen[cs]e/i.test(one));
  return { name, version, license, text: file ? readFileSync(join(folder, file), 'utf8').trim() : '' };
}

function entry({ name, version, license, text }: Package): string {
  return [`== ${name} ${version}: ${license}`, '', text || `License: ${license}, as its package.json says.`, ''].join(
    '\n'
  );
}
