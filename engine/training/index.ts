export { type Place, type Placement, packIntoRows, placeInRows } from "./placement.ts";
export {
  type Coefficients,
  type FloatArray,
  parameterShapes,
  type Scores,
  type SequenceBatch,
  SequenceModel,
  type SequenceModelOptions,
} from "./sequence-model.ts";
