import { SceneApp, useSceneApp } from '@grafana/scenes';
import React from 'react';
import { Navigate, Route, Routes } from 'react-router-dom';
import { pageUrl, ROUTES } from '../constants/routes.ts';
import { appPages } from './pages.ts';

/** The app's pages. Its own address leads to the runs. */
export default function App() {
  const app = useSceneApp(createApp);
  return (
    <Routes>
      <Route path="/" element={<Navigate replace to={pageUrl(ROUTES.runs)} />} />
      <Route path="*" element={<app.Component model={app} />} />
    </Routes>
  );
}

function createApp(): SceneApp {
  return new SceneApp({
    pages: appPages(),
    urlSyncOptions: { updateUrlOnInit: true, createBrowserHistorySteps: true },
  });
}
