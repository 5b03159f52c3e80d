declare const classes: {
  readonly library: string;
  readonly index: string;
  readonly pickrow: string;
  readonly unsaved: string;
  readonly detail: string;
  readonly bigpicture: string;
  readonly newone: string;
  readonly materiaList: string;
  readonly materiaEditor: string;
  readonly forms: string;
  readonly beside: string;
  readonly probs: string;
  readonly err: string;
  readonly uses: string;
  readonly consent: string;
  readonly tried: string;
};
export default classes;
