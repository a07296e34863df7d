/** The parts of plugin.json that the checks look at. */
export interface PluginJson {
  id: string;
  type: string;
  name: string;
  buildMode: string;
  category?: string;
  languages?: string[];
  info: {
    version: string;
    updated: string;
    description: string;
    keywords: string[];
    author: { name: string };
    logos: Record<string, string>;
    screenshots?: Array<{ name: string; path: string }>;
  };
  includes?: Array<{ type: string; name: string; path: string; role?: string }>;
  extensions?: {
    addedLinks?: Array<{ title: string; targets: string[] }>;
    exposedComponents?: Array<{ id: string; title: string }>;
  };
  dependencies: { grafanaDependency: string; plugins: unknown[] };
}

/** Members that Grafana's documentation of plugin.json names and that this plugin may have. */
const KNOWN = {
  plugin: ['$schema', 'annotations', 'buildMode', 'category', 'dependencies', 'extensions', 'id', 'includes', 'info'].concat(
    ['languages', 'metrics', 'name', 'preload', 'routes', 'skipDataQuery', 'suggestions', 'type']
  ),
  info: ['author', 'description', 'keywords', 'links', 'logos', 'screenshots', 'updated', 'version'],
  include: ['action', 'addToNav', 'defaultNav', 'icon', 'name', 'path', 'role', 'type'],
};
const ID = /^[0-9a-z]+-([0-9a-z]+-)?(app|panel|datasource)$/;
const CATEGORIES = ['tsdb', 'logging', 'cloud', 'tracing', 'profiling', 'sql', 'enterprise', 'iot', 'other'];

/** What in a plugin.json breaks Grafana's rules for it; empty when nothing does. */
export function pluginJsonFaults(plugin: PluginJson): string[] {
  const { id, type, name, info, includes = [], extensions = {}, dependencies } = plugin;
  const { addedLinks = [], exposedComponents = [] } = extensions;
  const faults: Array<[isFault: boolean, text: string]> = [
    [!ID.test(id), `id ${id}`],
    [!id.endsWith(`-${type}`), `id ${id} of type ${type}`],
    [name === id || name.length === 0, `name ${name}`],
    [!/^\d+\.\d+\.\d+$/.test(info.version), `version ${info.version}`],
    [!/^\d{4}-\d\d-\d\d$/.test(info.updated), `updated ${info.updated}`],
    [info.keywords.length === 0 || info.description.length === 0, 'no keywords or no description'],
    [!info.logos['small'] || !info.logos['large'], 'no logos'],
    [!/^>=\d+\.\d+\.\d+$/.test(dependencies.grafanaDependency), `needs Grafana ${dependencies.grafanaDependency}`],
    [type === 'datasource' && !CATEGORIES.includes(plugin.category ?? 'other'), `category ${plugin.category}`],
    [[...addedLinks, ...exposedComponents].some(({ title }) => title.length < 10), 'a title of an extension is short'],
    [exposedComponents.some((one) => !new RegExp(`^${id}/[a-z-]+/v\\d+$`).test(one.id)), 'id of an exposed component'],
    ...unknown(plugin, KNOWN.plugin),
    ...unknown(info, KNOWN.info),
    ...includes.flatMap((include) => unknown(include, KNOWN.include)),
    ...includes.map((include): [boolean, string] => [
      !['dashboard', 'page', 'panel', 'datasource'].includes(include.type) ||
        !['Admin', 'Editor', 'Viewer', undefined].includes(include.role),
      `include ${include.name}`,
    ]),
    ...paths(plugin).map((path): [boolean, string] => [/^\/|\.\.|^\w+:/.test(path), `path ${path} is not relative`]),
  ];
  return faults.filter(([isFault]) => isFault).map(([, text]) => text);
}

/** The pictures that a plugin.json names. */
export function paths({ info: { logos, screenshots = [] } }: PluginJson): string[] {
  return [...Object.values(logos), ...screenshots.map(({ path }) => path)];
}

function unknown(object: object, known: string[]): Array<[boolean, string]> {
  return Object.keys(object).map((member) => [!known.includes(member), `unknown member ${member}`]);
}
