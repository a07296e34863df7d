// Version 5, which @grafana/ui brings, has no types of its own.
declare module 'react-router-dom-v5' {
  import type { ComponentType, ReactNode } from 'react';

  export const Router: ComponentType<{ history: object; children?: ReactNode }>;
}
