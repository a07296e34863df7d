// Files of Grafana's packages that hold what its application sets and plugins read.
declare module 'grafana-runtime-plugin-page' {
  import type { PluginPageType } from '@grafana/runtime';

  export function setPluginPage(component: PluginPageType): void;
}
