// Grafana's packages read these when they are imported, so this file comes first.
const parameters = new URLSearchParams(window.location.search);
const orgRole = parameters.get('role') ?? 'Admin';
const user = {
  theme: parameters.get('theme') === 'light' ? 'light' : 'dark',
  locale: 'en-US',
  language: 'en-US',
  timezone: 'utc',
  orgId: 1,
  id: 1,
  isSignedIn: true,
};

Object.assign(window, {
  __grafana_public_path__: '/public/',
  grafanaBootData: {
    user: { ...user, login: 'ana', orgRole, isGrafanaAdmin: orgRole === 'Admin', permissions: {} },
    settings: {
      buildInfo: { version: process.env['GRAFANA_VERSION'], edition: 'Open Source', env: 'test', commit: '' },
      featureToggles: {},
      appSubUrl: '',
      datasources: {},
      panels: {},
      apps: {},
    },
    navTree: [],
    assets: {},
  },
});
