declare const classes: {
  readonly signin: string;
};
export default classes;
