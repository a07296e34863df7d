import type { FamilyQuery } from '../../publish/views/server-view.ts';
import { QUANTITY_NAMES } from '../../publish/views/server-view.ts';
import { choices, texts } from './query.ts';

/** The parameters that select server families; their values form a `FamilyQuery`. */
export const familyParameters = () =>
  ({
    family: texts(),
    quantity: choices(QUANTITY_NAMES()),
    target: texts(),
  }) as const satisfies Record<keyof FamilyQuery, unknown>;
