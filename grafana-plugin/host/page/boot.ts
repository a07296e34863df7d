// Grafana's packages read these when they are imported, so this file comes first.
const user = {
  theme: new URLSearchParams(window.location.search).get('theme') === 'light' ? 'light' : 'dark',
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
    user: { ...user, orgRole: 'Admin', isGrafanaAdmin: true, permissions: {} },
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
