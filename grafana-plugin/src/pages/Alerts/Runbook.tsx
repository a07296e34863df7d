import { renderMarkdown } from '@grafana/data';
import { t } from '@grafana/i18n';
import { getBackendSrv } from '@grafana/runtime';
import { Button, Drawer, LinkButton, LoadingPlaceholder, RenderUserContentAsHTML } from '@grafana/ui';
import React, { useCallback, useMemo, useState } from 'react';
import { lastValueFrom } from 'rxjs';
import { LoadProblem } from '../../components/LoadProblem.tsx';
import { useLoaded } from '../../hooks/useLoaded.ts';
import { PLUGIN_ID } from '../../constants/plugin.ts';
import { SHIPPED_ALERTS } from './shipped-alerts.ts';

interface Props {
  alert: string;
  /** The rule's annotation; null where it has none. */
  url: string | null;
}

/** The runbook of an alert: at its address, or the one that comes with the app. Nothing for a rule without either. */
export function RunbookButton({ alert, url }: Props) {
  const [isOpen, setOpen] = useState(false);
  const label = t('alerts.runbook-of', 'Runbook of {{alert}}', { alert });
  const text = t('alerts.runbook', 'Runbook');
  if (url !== null && isReachable(url)) {
    return (
      <LinkButton
        size="sm"
        variant="secondary"
        fill="text"
        icon="book"
        href={url}
        target="_blank"
        rel="noreferrer"
        aria-label={label}
      >
        {text}
      </LinkButton>
    );
  }
  if (!SHIPPED_ALERTS.some(({ name }) => name === alert)) {
    return null;
  }
  return (
    <>
      <Button size="sm" variant="secondary" fill="text" icon="book" onClick={() => setOpen(true)} aria-label={label}>
        {text}
      </Button>
      {isOpen && (
        <Drawer title={label} size="md" onClose={() => setOpen(false)}>
          <Runbook alert={alert} />
        </Drawer>
      )}
    </>
  );
}

/** A path in the project is no address, and the rules as shipped name an exporter on the loopback address. */
function isReachable(url: string): boolean {
  return /^https?:\/\/(?!127\.|localhost\b|\[::1\])/.test(url);
}

function Runbook({ alert }: { alert: string }) {
  const load = useCallback((signal: AbortSignal) => loadRunbook(alert, signal), [alert]);
  const { data, error, reload } = useLoaded(load);
  const html = useMemo(() => (data === undefined ? '' : renderMarkdown(runbookText(data))), [data]);
  if (error) {
    return (
      <LoadProblem
        title={t('alerts.runbook-problem', 'The runbook could not be loaded')}
        error={error}
        onRetry={reload}
      />
    );
  }
  return data === undefined ? (
    <LoadingPlaceholder text={t('alerts.runbook-loading', 'Loading the runbook …')} />
  ) : (
    <RenderUserContentAsHTML className="markdown-html" content={html} />
  );
}

async function loadRunbook(alert: string, abortSignal: AbortSignal): Promise<string> {
  const url = `public/plugins/${PLUGIN_ID}/runbooks/${alert}.md`;
  const response = await lastValueFrom(
    getBackendSrv().fetch<string>({ url, responseType: 'text', showErrorAlert: false, abortSignal })
  );
  return response.data;
}

/** Without its title, which the drawer has, and without links to files that are not in the app. */
export function runbookText(markdown: string): string {
  return markdown.replace(/^# .*\n+/, '').replace(/\[([^\]]+)\]\((?!https?:)[^)]*\)/g, '$1');
}
