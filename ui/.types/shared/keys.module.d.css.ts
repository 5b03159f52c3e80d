declare const classes: {
  readonly keys: string;
  readonly signs: string;
  readonly lines: string;
};
export default classes;
