import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { requiredPackages, writeBillOfMaterials } from './bill-of-materials.ts';

/** Builds the npm package and packs it as npm publishes it, with its bill of materials. */
export function packPackage(root: string, folder: string, version: string): void {
  const args = ['pack', '--silent', '--pack-destination', folder];
  execFileSync('npm', args, { cwd: root, stdio: ['ignore', 'pipe', 'inherit'] });
  const file = join(folder, `llmbench-observability-${version}.cdx.json`);
  writeBillOfMaterials({ project: root, file, shipped: requiredPackages(root) });
}
