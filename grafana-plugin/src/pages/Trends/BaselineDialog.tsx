import { css } from '@emotion/css';
import type { GrafanaTheme2 } from '@grafana/data';
import {
  Alert,
  Button,
  Field,
  LoadingPlaceholder,
  Modal,
  MultiCombobox,
  RadioButtonGroup,
  TextArea,
  useStyles2,
  LinkButton,
} from '@grafana/ui';
import React, { type KeyboardEvent, useCallback, useId, useMemo, useState } from 'react';
import { currentUser } from '../../hooks/page-context.ts';
import { LoadProblem } from '../../components/LoadProblem.tsx';
import { Named } from '../../components/Named.tsx';
import { useLoaded } from '../../hooks/useLoaded.ts';
import type { ExporterApi } from '../../exporter-api/exporter-api.ts';
import type { ScenarioResponse } from '../../../../core/api/scenarios.ts';
import {
  actionButton,
  actionMeaning,
  actionName,
  BASELINE_ACTIONS,
  type DraftChange,
  runsFor,
  withAction,
} from './BaselineChanges.tsx';
import { standingText, startText } from './TrendRuns.tsx';
import { SnippetBox, BASELINE_CHANGES } from '../../components/SnippetBox.tsx';
import { pageUrl, ROUTES } from '../../constants.ts';
import { t } from '../../text.ts';

/** The exporter's limits of a change. */
const MAX_REASON = 1000;
const MAX_RUNS = 1000;

interface Props {
  exporter: ExporterApi;
  scenario: ScenarioResponse;
  draft: DraftChange;
  onClose: () => void;
  onChanged: () => void;
}

/** Asks for the runs and the reason of a change of the baseline, and makes it. */
export function BaselineDialog(props: Props) {
  const { exporter, scenario, onClose } = props;
  const load = useCallback(() => exporter.status(), [exporter]);
  const { data: status, error, reload } = useLoaded(load);
  const title = t('baseline.title', 'Change the baseline of {{scenario}}', {
    scenario: scenario.summary.scenario,
  });
  return (
    <Modal isOpen title={title} onDismiss={onClose}>
      {error ? (
        <LoadProblem
          title={t('baseline.status-problem', 'The exporter does not answer')}
          error={error}
          onRetry={reload}
        />
      ) : !status ? (
        <LoadingPlaceholder text={t('baseline.loading', 'Asking whether changes are allowed …')} />
      ) : status.allows_baseline_changes ? (
        <ChangeForm {...props} />
      ) : (
        <ChangesOff />
      )}
    </Modal>
  );
}

function ChangeForm({ exporter, scenario, draft: given, onClose, onChanged }: Props) {
  const styles = useStyles2(getStyles);
  const [draft, setDraft] = useState(() => withAction(given, given.action, scenario));
  const [reason, setReason] = useState('');
  const { change, isSaving, problem } = useChange(exporter, scenario.summary.scenario, onChanged);
  const { action, runIds } = draft;
  const options = useMemo(
    () =>
      runsFor(action, scenario).map((run) => ({
        value: run.run_id,
        label: startText(run),
        description: [run.run_id, run.verdict, standingText(run)].filter(Boolean).join(' · '),
      })),
    [action, scenario]
  );
  const reasonId = useId();
  const { login } = currentUser();
  const isComplete = runIds.length > 0 && runIds.length <= MAX_RUNS && reason.trim() !== '';
  return (
    <form
      className={styles.form}
      onSubmit={(event) => {
        event.preventDefault();
        change({ action, run_ids: [...runIds], reason: reason.trim(), author: login });
      }}
    >
      <Field
        noMargin
        label={t('baseline.action', 'Action')}
        description={actionMeaning(action, scenario.baseline.pinned.length)}
      >
        <RadioButtonGroup
          options={BASELINE_ACTIONS.map((value) => ({ value, label: actionName(value) }))}
          value={action}
          onChange={(value) => setDraft(withAction(draft, value, scenario))}
          aria-label={t('baseline.action', 'Action')}
        />
      </Field>
      <Field
        noMargin
        label={t('baseline.runs', 'Runs')}
        {...(options.length === 0 && {
          description: t('baseline.no-runs', 'There is no run to which this makes a difference.'),
        })}
      >
        <Named label={t('baseline.runs', 'Runs')}>
          {(named) => (
            <div onKeyDown={keepOpen}>
              <MultiCombobox
                options={options}
                value={[...runIds]}
                onChange={(chosen) => setDraft({ action, runIds: chosen.map(({ value }) => value) })}
                placeholder={t('baseline.choose', 'Choose runs')}
                isClearable
                aria-labelledby={named}
              />
            </div>
          )}
        </Named>
      </Field>
      <Field
        noMargin
        required
        htmlFor={reasonId}
        label={t('baseline.reason', 'Reason')}
        description={t('baseline.recorded', 'Recorded with the time and your login, {{login}}', {
          login,
        })}
      >
        <TextArea
          id={reasonId}
          value={reason}
          required
          maxLength={MAX_REASON}
          rows={3}
          onChange={({ currentTarget }) => setReason(currentTarget.value)}
        />
      </Field>
      {problem !== null && (
        <Alert severity="error" title={t('baseline.problem', 'The baseline was not changed')}>
          {problem}
        </Alert>
      )}
      <Modal.ButtonRow>
        <Button type="button" variant="secondary" fill="outline" onClick={onClose}>
          {t('baseline.cancel', 'Cancel')}
        </Button>
        <Button
          type="submit"
          variant={action === 'drop' ? 'destructive' : 'primary'}
          disabled={!isComplete || isSaving}
        >
          {actionButton(action, runIds.length)}
        </Button>
      </Modal.ButtonRow>
    </form>
  );
}

/** Escape closes the list of the runs only, not the dialog with it. */
function keepOpen(event: KeyboardEvent<HTMLElement>) {
  const isListOpen = event.target instanceof HTMLElement && event.target.getAttribute('aria-expanded') === 'true';
  if (event.key === 'Escape' && isListOpen) {
    event.stopPropagation();
  }
}

function useChange(exporter: ExporterApi, scenario: string, onChanged: () => void) {
  const [isSaving, setSaving] = useState(false);
  const [problem, setProblem] = useState<string | null>(null);
  const change = (body: Parameters<ExporterApi['changeBaseline']>[1]) => {
    setSaving(true);
    setProblem(null);
    exporter.changeBaseline(scenario, body).then(onChanged, (error: Error) => {
      setProblem(error.message);
      setSaving(false);
    });
  };
  return { change, isSaving, problem };
}

const getStyles = (theme: GrafanaTheme2) => ({
  form: css({ display: 'flex', flexDirection: 'column', gap: theme.spacing(2) }),
});

/** How changes of baselines are switched on, where the exporter does not allow them. */
function ChangesOff() {
  return (
    <>
      <Alert severity="info" title={t('baseline.off', 'The exporter does not allow changes')}>
        {t(
          'baseline.off-how',
          'Start it as below, and enter the token in the settings of the data source "llmbench runs". On the machine of the exporter, llmbench baseline changes it too.'
        )}
      </Alert>
      <SnippetBox title={t('baseline.off-command', 'Allow changes')} text={BASELINE_CHANGES} />
      <LinkButton variant="secondary" href={pageUrl(ROUTES.setup)}>
        {t('baseline.to-setup', 'Set up')}
      </LinkButton>
    </>
  );
}
