import { SceneApp, useSceneApp } from '@grafana/scenes';
import React from 'react';
import { Navigate, Route, Routes, useLocation } from 'react-router-dom';
import { pageUrl, ROUTES } from '../constants/routes.ts';
import { appPages } from './pages.ts';

/** The app's pages. Its own address leads to the overview. */
export default function App() {
  const app = useSceneApp(createApp);
  return (
    <Routes>
      <Route path="/" element={<Navigate replace to={pageUrl(ROUTES.overview)} />} />
      <Route path={FORMER_COMPARE} element={<ToCompare />} />
      <Route path="*" element={<app.Component model={app} />} />
    </Routes>
  );
}

/** The path of the page Compare in links from before it had two sets of runs. */
const FORMER_COMPARE = 'overlay/*';

/** The first run of such a link was the reference of the others. */
function ToCompare() {
  const parameters = new URLSearchParams(useLocation().search);
  const [reference, ...others] = parameters.getAll('run');
  parameters.delete('run');
  const sets = [['a', reference ?? ''], ...others.map((run) => ['b', run])].filter(([, run]) => run !== '');
  const search = new URLSearchParams([...parameters, ...sets]).toString();
  return <Navigate replace to={`${pageUrl(ROUTES.compare)}?${search}`} />;
}

function createApp(): SceneApp {
  return new SceneApp({
    pages: appPages(),
    urlSyncOptions: { updateUrlOnInit: true, createBrowserHistorySteps: true },
  });
}
