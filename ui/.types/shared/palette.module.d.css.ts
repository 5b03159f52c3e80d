declare const classes: {
  readonly palette: string;
};
export default classes;
