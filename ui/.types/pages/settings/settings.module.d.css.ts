declare const classes: {
  readonly usual: string;
  readonly folders: string;
};
export default classes;
