import { unreachable } from '../../support/assert.ts';
import type { Answer } from './answer.ts';
import { explainEntry } from './explain-entry.ts';
import { explainFloor } from './explain-floor.ts';
import { explainGroup } from './explain-group.ts';
import { explainSlice } from './explain-slice.ts';
import type { FleetView } from './fleet-view.ts';
import type { Subject } from './subject.ts';

/** Why a thing is as it is: read off the last decision, and what has been seen since. */
export function explain(view: FleetView, subject: Subject): Answer {
  switch (subject.kind) {
    case 'entry':
      return explainEntry(view, subject.entry);
    case 'slice':
      return explainSlice(view, subject.record);
    case 'group':
      return explainGroup(view, subject.known);
    case 'floor':
      return explainFloor(view, subject.floor);
    default:
      return unreachable(subject);
  }
}
