/** What the charts of Train show: configurations and seeds a person switched on or off, and the smoothing. */
import { create } from "zustand";

interface TrainView {
  /** By configuration; one that is not named is shown when it belongs to the open run. */
  readonly shown: Readonly<Record<string, boolean>>;
  readonly hiddenSeeds: ReadonlySet<string>;
  /** Steps of the moving mean. */
  readonly smoothing: number;
  /** The rollout chosen in the open step. */
  readonly rollout: string | null;
}

export const useTrainView = create<TrainView>(() => ({ shown: {}, hiddenSeeds: new Set(), smoothing: 9, rollout: null }));

export const showConfiguration = (key: string, on: boolean): void => useTrainView.setState(({ shown }) => ({ shown: { ...shown, [key]: on } }));

export function showSeed(run: string, on: boolean): void {
  useTrainView.setState(({ hiddenSeeds }) => {
    const next = new Set(hiddenSeeds);
    if (on) next.delete(run);
    else next.add(run);
    return { hiddenSeeds: next };
  });
}

export const setSmoothing = (smoothing: number): void => useTrainView.setState({ smoothing });
export const chooseStepRollout = (rollout: string | null): void => useTrainView.setState({ rollout });
