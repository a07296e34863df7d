import { AppPlugin, type AppRootProps } from '@grafana/data';
import { LoadingPlaceholder } from '@grafana/ui';
import React, { lazy, Suspense } from 'react';

const LazyStartPage = lazy(() => import('./pages/Start/StartPage.tsx'));

const App = (_props: AppRootProps) => (
  <Suspense fallback={<LoadingPlaceholder text="" />}>
    <LazyStartPage />
  </Suspense>
);

export const plugin = new AppPlugin().setRootPage(App);
