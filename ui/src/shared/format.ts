// Numbers and times as they are shown.

/** m:ss, or h:mm:ss; where that is asked for, short ones in milliseconds or tenths of a second. */
export function duration(ms: number, fine = false): string {
  if (fine && ms < 1000) return `${Math.round(ms)} ms`;
  if (fine && ms < 10_000) return `${(ms / 1000).toFixed(1)} s`;
  const seconds = Math.max(0, Math.floor(ms / 1000));
  const two = (value: number) => String(value).padStart(2, "0");
  const [h, m, s] = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60, seconds % 60];
  return h > 0 ? `${h}:${two(m)}:${two(s)}` : `${m}:${two(s)}`;
}

/** How long something waits, roughly. */
export function ago(ms: number): string {
  const minutes = Math.floor(ms / 60000);
  if (minutes < 1) return "< 1 min";
  if (minutes < 60) return `${minutes} min`;
  const hours = Math.floor(minutes / 60);
  return hours < 48 ? `${hours} h` : `${Math.floor(hours / 24)} days`;
}

export function clock(time: string | number | null | undefined, fine = false): string {
  if (time === null || time === undefined) return "";
  const date = new Date(time);
  if (Number.isNaN(date.getTime())) return "";
  const two = (value: number) => String(value).padStart(2, "0");
  const hm = `${two(date.getHours())}:${two(date.getMinutes())}`;
  return fine ? `${hm}:${two(date.getSeconds())}.${String(date.getMilliseconds()).padStart(3, "0")}` : hm;
}

/** The clock today, the day otherwise. */
export function dayOrClock(time: string | null | undefined, now: number): string {
  if (!time) return "";
  const date = new Date(time);
  if (new Date(now).toDateString() === date.toDateString()) return clock(time);
  return date.toLocaleDateString("en-GB", { day: "numeric", month: "short" });
}

export function money(cost: number | null | undefined): string {
  if (cost === null || cost === undefined) return "unknown";
  return `$${cost.toFixed(cost > 0 && cost < 0.01 ? 4 : 2)}`;
}

const whole = new Intl.NumberFormat("en");
export function count(value: number): string {
  return whole.format(value);
}

/** 251k, 1.6M: for places with little room. */
export function short(value: number): string {
  if (value < 10000) return count(value);
  if (value < 1e6) return `${Math.round(value / 1000)}k`;
  return `${(value / 1e6).toFixed(1)}M`;
}

export function bytes(value: number): string {
  if (value < 1000) return `${value} B`;
  if (value < 1e6) return `${(value / 1000).toFixed(1)} KB`;
  return `${(value / 1e6).toFixed(1)} MB`;
}
