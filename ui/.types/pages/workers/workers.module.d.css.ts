declare const classes: {
  readonly workers: string;
  readonly none: string;
  readonly note: string;
  readonly left: string;
  readonly labels: string;
  readonly castsOf: string;
};
export default classes;
