declare const classes: {
  readonly diff: string;
  readonly ins: string;
  readonly del: string;
};
export default classes;
