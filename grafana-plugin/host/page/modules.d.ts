// Version 5, which @grafana/ui brings, has no types of its own.
declare module 'react-router-dom-v5' {
  import type { ComponentType, ReactNode } from 'react';

  export const Router: ComponentType<{ history: object; children?: ReactNode }>;
}

// Files of Grafana's packages that hold what its application sets and plugins read.
declare module 'grafana-runtime-plugin-page' {
  import type { PluginPageType } from '@grafana/runtime';

  export function setPluginPage(component: PluginPageType): void;
}
