// Version 5, which @grafana/ui brings, has no types of its own.
declare module 'react-router-dom' {
  import type { ComponentType, ReactNode } from 'react';

  export const Router: ComponentType<{ history: object; children?: ReactNode }>;
}
