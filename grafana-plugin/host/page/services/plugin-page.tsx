import type { NavModelItem } from '@grafana/data';
import type { PluginPageProps } from '@grafana/runtime';
import { Tab, TabsBar } from '@grafana/ui';
// Grafana's application sets its page frame with this setter, which the package does not export.
import { setPluginPage } from 'grafana-runtime-plugin-page';
import React from 'react';

/** Breadcrumbs, title, subtitle, actions and tabs, as Grafana's own frame has them. */
function PageFrame({ pageNav, subTitle, actions, renderTitle, children }: PluginPageProps) {
  const title = pageNav?.text ?? 'llmbench';
  const tabs = pageNav?.children ?? [];
  return (
    <div style={{ padding: '8px 24px 24px', display: 'flex', flexDirection: 'column', gap: 16, minHeight: '100vh' }}>
      <nav aria-label="Breadcrumbs" style={{ fontSize: 12 }}>
        {breadcrumbs(pageNav).map(({ text, url }, i) => (
          <React.Fragment key={text}>
            {i > 0 && ' › '}
            <a href={url}>{text}</a>
          </React.Fragment>
        ))}
      </nav>
      <div style={{ display: 'flex', justifyContent: 'space-between', alignItems: 'center', gap: 16 }}>
        {renderTitle ? renderTitle(title) : <h1 style={{ margin: 0 }}>{title}</h1>}
        <div style={{ display: 'flex', gap: 8 }}>{actions}</div>
      </div>
      {subTitle !== undefined && <div>{subTitle}</div>}
      {tabs.length > 0 && (
        <TabsBar>
          {tabs.map(({ text, url, active }) => (
            <Tab key={text} label={text} active={active ?? false} href={url ?? ''} />
          ))}
        </TabsBar>
      )}
      <main style={{ flex: 1, display: 'flex', flexDirection: 'column', minWidth: 0 }}>{children}</main>
    </div>
  );
}

function breadcrumbs(item: NavModelItem | undefined): NavModelItem[] {
  return item ? [...breadcrumbs(item.parentItem), item] : [];
}

export function registerPluginPage(): void {
  setPluginPage(PageFrame);
}
