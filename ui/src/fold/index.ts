export { type Arrival, arrivals } from "./arrivals";
export * from "./crossings";
export { fold, itemIndex, itemKey, objectOf } from "./fold";
export { BESIDE_VIEW, fromView } from "./report";
export * from "./state";
export * from "./view";
