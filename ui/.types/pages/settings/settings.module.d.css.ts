declare const classes: {
  readonly usual: string;
};
export default classes;
