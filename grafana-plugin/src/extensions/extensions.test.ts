import { AppPlugin } from '@grafana/data';
import pluginJson from '../plugin.json';
import { addLinks, exposeRunSummary, runsInRange } from './extensions.tsx';

const plugin = new AppPlugin();
addLinks(plugin);
exposeRunSummary(plugin);

test('plugin.json declares exactly what the module adds', () => {
  const links = plugin.addedLinkConfigs.map(({ title, description, targets }) => ({ title, description, targets }));
  expect(links).toEqual(pluginJson.extensions.addedLinks);
  const components = plugin.exposedComponentConfigs.map(({ id, title, description }) => ({ id, title, description }));
  expect(components).toEqual(pluginJson.extensions.exposedComponents);
});

test.each([
  [{ timeRange: { from: 'now-1h', to: 'now' } }, 'from=now-1h&to=now&inRange=true'],
  [{ timeRange: { from: 1000, to: 2000 } }, 'from=1000&to=2000&inRange=true'],
])('the link leads to the runs in the time range %j', (context, search) => {
  expect(runsInRange(context as never)).toBe(`/a/llmbench-observability-app/runs?${search}`);
});

test('without a time range it leads to all runs', () => {
  expect(runsInRange(undefined)).toBe('/a/llmbench-observability-app/runs');
});
