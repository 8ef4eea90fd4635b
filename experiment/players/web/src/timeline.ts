// The steps of a session as jsPsych's timeline: what is shown of them is decided when it is their turn.

import { confirmWithdrawal, showProgress } from "./messages";
import type { RecordEvent } from "./plugin";
import { plugins } from "./screen-plugins";
import type { Outcome, Screen } from "./screens";
import type { RunningVisit, Timeline } from "./running-visit";
import type { TimelineStep } from "./walk";

type Node = Timeline[number];

/** While these are shown nothing is sent. */
const READING_KINDS: ReadonlySet<Screen["kind"]> = new Set(["words", "whole", "word_pairs"]);
/** At these the bar says how many trials lie behind. */
const TASK_KINDS: ReadonlySet<Screen["kind"]> = new Set(["answers", "slider", "entry"]);

function buildNode(visit: RunningVisit, { number, step, position }: TimelineStep, n: number, data: object, progress: number | null): Node {
  const { script, walk, queue } = visit;
  const screen = step.screens[n] as Screen;
  const record: RecordEvent = (kind, t, value) => {
    if (kind !== "press" || position !== null) visit.record(kind, t, [number, n], value);
  };
  const withdraw = (): void => void confirmWithdrawal(script.texts).then((yes) => yes && visit.leave("withdrawn"));
  const page = screen.kind === "text" || screen.kind === "form";
  return {
    timeline: [
      {
        type: plugins[screen.kind],
        ...{ screen, direction: script.direction, record, hz: () => visit.hz ?? 60, judge: visit.judge },
        ...(page && visit.agreed(number) && { way_out: script.texts.withdraw, leave: withdraw }),
        data: { ...data, step: number, screen: n, kind: screen.kind, task: screen.task, name: screen.name },
        on_start() {
          visit.position = [number, n];
          if (READING_KINDS.has(screen.kind)) queue.pause();
        },
        on_load() {
          if (TASK_KINDS.has(screen.kind) && progress !== null) showProgress(progress);
          if (!READING_KINDS.has(screen.kind)) queue.resume();
        },
        async on_finish({ outcome }: { outcome?: Outcome }) {
          if (outcome === undefined || visit.over) return; // broken off
          await visit.ended(outcome);
        },
      },
    ],
    conditional_function: () => walk.isAt(number, n),
  };
}

/** The steps that are not done yet; `labels` say more of each trial of the list. */
export function buildTimeline(visit: RunningVisit): Timeline {
  const { walk, labels } = visit;
  const trials = walk.steps.filter(({ position }) => position !== null).length;
  return walk.steps
    .filter(({ number }) => !walk.done.has(number))
    .map((timelineStep) => {
      const { number, step, position } = timelineStep;
      const data = position === null ? {} : { trial: position, ...labels?.[step.trial as number] };
      const progress = position === null ? null : (position + 1) / trials;
      return {
        timeline: step.screens.map((_, n) => buildNode(visit, timelineStep, n, data, progress)),
        conditional_function: () => walk.at?.[0] === number,
        on_timeline_start() {
          if (position !== null) showProgress(null);
          if (walk.isAt(number, 0)) visit.record("begin", performance.now(), [number, null], {});
        },
      };
    });
}
