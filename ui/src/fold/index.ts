export { fold, itemKey, objectOf } from "./fold";
export { fromView } from "./report";
export * from "./state";
export * from "./view";
