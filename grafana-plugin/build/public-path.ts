import amdModule from 'amd-module';

/** The address from which Grafana loaded the module: further files of the plugin are beside it. */
__webpack_public_path__ = amdModule?.uri
  ? amdModule.uri.slice(0, amdModule.uri.lastIndexOf('/') + 1)
  : 'public/plugins/llmbench-observability-app/';
