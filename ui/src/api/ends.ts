/** Whether a way ends the cast there: completed or failed. */
export const isEnd = (to: string): to is "end" | "fail" => to === "end" || to === "fail";
