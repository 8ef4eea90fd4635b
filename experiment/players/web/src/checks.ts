// What the page can say about its machine: enough to judge the timing, too little to recognise a person.

import type { DeviceSection, Visit } from "./screens";

/** Refresh rate in Hz from the times of successive animation frames: 1000 over the median interval. */
export function refreshRate(frames: readonly number[]): number | null {
  const intervals = frames
    .slice(1)
    .map((t, index) => t - (frames[index] as number))
    .sort((a, b) => a - b);
  if (intervals.length < 10) return null;
  const middle = intervals.length >> 1;
  const upper = intervals[middle] as number;
  const median = intervals.length % 2 ? upper : (upper + (intervals[middle - 1] as number)) / 2;
  return median > 0 ? 1000 / median : null;
}

/** Smallest step between successive readings of a clock, ms; null when it never moved. */
export function minClockStep(readings: readonly number[]): number | null {
  const steps = readings.slice(1).map((t, index) => t - (readings[index] as number));
  const positive = steps.filter((step) => step > 0);
  return positive.length ? positive.reduce((least, step) => Math.min(least, step)) : null;
}

const BROWSERS: [RegExp, string][] = [
  [/Edg(e|A|iOS)?\//, "Edge"],
  [/OPR\/|Opera/, "Opera"],
  [/SamsungBrowser\//, "Samsung Internet"],
  [/Firefox\/|FxiOS\//, "Firefox"],
  [/Chrome\/|Chromium\/|CriOS\//, "Chrome"],
  [/Safari\//, "Safari"],
];

const SYSTEMS: [RegExp, string][] = [
  [/Windows/, "Windows"],
  [/Android/, "Android"],
  [/iPhone|iPad|iPod/, "iOS"],
  [/CrOS/, "ChromeOS"],
  [/Mac OS X|Macintosh/, "macOS"],
  [/Linux|X11/, "Linux"],
];

/** Family of browser and operating system, such as "Firefox on Windows"; no versions. */
export function deviceName(userAgent: string): string {
  const family = (table: [RegExp, string][], otherwise: string): string =>
    table.find(([pattern]) => pattern.test(userAgent))?.[1] ?? otherwise;
  return `${family(BROWSERS, "another browser")} on ${family(SYSTEMS, "another system")}`;
}

async function frameTimes(count: number, patience: number): Promise<number[]> {
  const times: number[] = [];
  await new Promise<void>((done) => {
    const tick = (t: number): void => {
      times.push(t);
      if (times.length <= count) requestAnimationFrame(tick);
      else done();
    };
    requestAnimationFrame(tick);
    setTimeout(done, patience);
  });
  return times;
}

function clockReadings(duration: number): number[] {
  const readings = [performance.now()];
  while ((readings[readings.length - 1] as number) - (readings[0] as number) < duration && readings.length < 50_000) {
    readings.push(performance.now());
  }
  return readings;
}

export interface Machine {
  /** of the window, as it would be without zoom, and of the screen, CSS px */
  window: { width: number; height: number };
  screen: { width: number; height: number };
  /** whether anything but a finger points */
  pointer: boolean;
}

/** What speaks against a machine: nothing, a window that can be made larger, or something that stays. */
export function checkMachine(machine: Machine, needs: DeviceSection): "yes" | "enlarge" | "no" {
  const fits = ({ width, height }: { width: number; height: number }): boolean =>
    width >= needs.min_width && height >= needs.min_height;
  if (needs.keyboard && !machine.pointer) return "no";
  if (fits(machine.window)) return "yes";
  return fits(machine.screen) ? "enlarge" : "no";
}

/** How much the browser magnifies the page, where it tells: a window's outer width is the same at every zoom, the inner one is not. */
function readZoom(): number {
  const magnified = Math.min(window.outerWidth / window.innerWidth, window.devicePixelRatio);
  return magnified > 1 ? magnified : 1;
}

export const readMachine = (): Machine => ({
  window: { width: window.innerWidth * readZoom(), height: window.innerHeight * readZoom() },
  screen: { width: window.screen.availWidth, height: window.screen.availHeight },
  pointer: navigator.maxTouchPoints === 0 || window.matchMedia("(any-pointer: fine)").matches,
});

/** Runs while the participant reads the first page; takes about a second at 60 Hz, and at most three. */
export async function measureMachine(): Promise<Omit<Visit, "keyboard" | "monitor" | "full_screen" | "font" | "software">> {
  return {
    time_origin: performance.timeOrigin,
    device: deviceName(navigator.userAgent),
    refresh_hz: refreshRate(await frameTimes(60, 3000)),
    timer_ms: minClockStep(clockReadings(20)),
    width: window.innerWidth,
    height: window.innerHeight,
    pixel_ratio: window.devicePixelRatio,
    isolated: window.crossOriginIsolated,
  };
}
