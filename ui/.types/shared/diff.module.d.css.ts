declare const classes: {
  readonly diff: string;
};
export default classes;
