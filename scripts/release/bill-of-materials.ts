import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

interface Bom {
  serialNumber?: string;
  readonly metadata: { timestamp?: string; readonly component: { name: string } };
  components: readonly Component[];
  dependencies: readonly { readonly ref: string; readonly dependsOn?: readonly string[] }[];
}

interface Component {
  readonly 'bom-ref': string;
  readonly name: string;
  readonly version: string;
}

interface Options {
  /** Folder of the package.json and its lock file. */
  readonly project: string;
  readonly file: string;
  /** What is shipped, each as `name version`. */
  readonly shipped: ReadonlySet<string>;
}

/** Writes a bill of materials in CycloneDX from the lock file, equal for equal input: without serial number and time. */
export function writeBillOfMaterials({ project, file, shipped }: Options): void {
  // Not --omit=dev, with which npm 11 also omits what both development and the package require.
  const args = ['sbom', '--package-lock-only', '--sbom-format=cyclonedx'];
  const output = execFileSync('npm', args, { cwd: project, encoding: 'utf8', maxBuffer: 1 << 28 });
  const bom = JSON.parse(output) as Bom;
  delete bom.serialNumber;
  delete bom.metadata.timestamp;
  // npm names the component after its folder.
  const { name } = JSON.parse(readFileSync(join(project, 'package.json'), 'utf8')) as { name: string };
  bom.metadata.component.name = name;
  keep(bom, shipped);
  writeFileSync(file, `${JSON.stringify(bom, null, 2)}\n`);
}

/** `name version` of the packages that npm installs with a package, without those that are optional. */
function requiredPackages(project: string): ReadonlySet<string> {
  interface Entry {
    readonly version: string;
    readonly dev?: true;
    readonly devOptional?: true;
    readonly optional?: true;
  }
  const lock = readFileSync(join(project, 'package-lock.json'), 'utf8');
  const { packages } = JSON.parse(lock) as { packages: Readonly<Record<string, Entry>> };
  const required = Object.entries(packages).filter(
    ([path, { dev, devOptional, optional }]) => path !== '' && !dev && !devOptional && !optional,
  );
  return new Set(required.map(([path, { version }]) => `${path.split('node_modules/').at(-1)} ${version}`));
}

function keep(bom: Bom, shipped: ReadonlySet<string>): void {
  const nameAndVersion = ({ name, version }: Component): string => `${name} ${version}`;
  bom.components = bom.components.filter((component) => shipped.has(nameAndVersion(component)));
  const found = new Set(bom.components.map(nameAndVersion));
  const missing = [...shipped].filter((one) => !found.has(one));
  if (missing.length > 0) throw new Error(`npm sbom does not list ${missing.join(', ')}, which is shipped`);
  const refs = new Set(bom.components.map((component) => component['bom-ref']));
  bom.dependencies = bom.dependencies
    .filter(({ ref }) => refs.has(ref))
    .map(({ ref, dependsOn = [] }) => ({ ref, dependsOn: dependsOn.filter((one) => refs.has(one)) }));
}

/** Builds the npm package and packs it as npm publishes it, with its bill of materials. */
export function packPackage(root: string, folder: string, version: string): void {
  const args = ['pack', '--silent', '--pack-destination', folder];
  execFileSync('npm', args, { cwd: root, stdio: ['ignore', 'pipe', 'inherit'] });
  const file = join(folder, `llmbench-observability-${version}.cdx.json`);
  writeBillOfMaterials({ project: root, file, shipped: requiredPackages(root) });
}
