import { AppPlugin, type AppRootProps } from '@grafana/data';
import { LoadingPlaceholder } from '@grafana/ui';
import React, { lazy, Suspense } from 'react';
import { addLinks, exposeRunSummary } from './extensions/extensions.tsx';

const LazyApp = lazy(async () => (await import('./app/load-app.ts')).loadApp());

const Root = (_props: AppRootProps) => (
  <Suspense fallback={<LoadingPlaceholder text="" />}>
    <LazyApp />
  </Suspense>
);

export const plugin = new AppPlugin().setRootPage(Root);
addLinks(plugin);
exposeRunSummary(plugin);
