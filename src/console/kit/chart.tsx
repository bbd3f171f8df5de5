// Charts: uPlot for charts with axes, a plain path for charts in a table row. Each has a text alternative.
import { useEffect, useRef } from 'preact/hooks';
import uPlot from 'uplot';
import { day, hour, minute, second } from './words.tsx';

export interface Curve {
  label: string;
  /** The name of a color in the style sheet. */
  color: '--accent' | '--good' | '--warn' | '--danger' | '--muted';
  values: (number | null)[];
  /** Whether the area below the curve is filled. */
  area?: boolean;
  dashed?: boolean;
}

interface ChartProperties {
  /** Times in milliseconds. */
  times: number[];
  curves: Curve[];
  /** Formats a value of the axis. */
  unit: (value: number) => string;
  /** Lower bound for the highest value of the axis. */
  top: number;
  /** Text alternative: the curves in one sentence. */
  words: string;
  height?: number;
  range?: [from: number, to: number];
  /** Allowed intervals of the value axis. */
  steps?: number[];
}

/** A color of the theme in the format of the canvas: `rgb(…)`. */
function colorOf(host: HTMLElement, name: string): string {
  host.style.color = `var(${name})`;
  return getComputedStyle(host).color;
}
const darkness = matchMedia('(prefers-color-scheme: dark)');

const dataOf = ({ times, curves }: ChartProperties): uPlot.AlignedData => [
  times,
  ...curves.map(({ values }) => values),
];

const seriesOf = (host: HTMLElement, { label, color, area, dashed }: Curve): uPlot.Series => {
  const stroke = colorOf(host, color);
  return {
    label,
    stroke,
    width: dashed ? 1 : 1.75,
    points: { show: false },
    ...(area && { fill: stroke.replace(/rgb\((.*)\)/, 'rgba($1, 0.14)') }),
    ...(dashed && { dash: [5, 4] }),
  };
};

/** Draws the chart. Its scales call `readProperties` at every redraw, so that they use the latest properties. */
function draw(host: HTMLElement, height: number, readProperties: () => ChartProperties): uPlot {
  const { curves, unit, steps } = readProperties();
  const highest = () =>
    Math.max(
      readProperties().top,
      ...readProperties().curves.flatMap(({ values }) => values.map((value) => value ?? 0)),
    );
  const [grid, ink] = [colorOf(host, '--line'), colorOf(host, '--muted')];
  const axis: uPlot.Axis = {
    stroke: ink,
    grid: { stroke: grid, width: 1 },
    ticks: { show: false },
    font: '12px system-ui, sans-serif',
  };
  return new uPlot(
    {
      width: host.clientWidth || 300,
      height,
      ms: 1,
      legend: { show: false },
      cursor: { y: false, points: { size: 7 } },
      padding: [8, 18, 0, 0],
      scales: {
        x: { time: true, range: (_plot, from, to) => readProperties().range ?? [from, to] },
        y: { range: () => [0, highest() * 1.08 || 1] },
      },
      axes: [
        {
          ...axis,
          grid: { show: false },
          size: 24,
          gap: 6,
          space: 56,
          incrs: moments,
          values: (_plot, splits, _axis, _space, step) => splits.map((split) => momentWords(split, step)),
        },
        {
          ...axis,
          ...(steps && { incrs: steps }),
          gap: 6,
          size: 56,
          space: 30,
          values: (_plot, splits) => splits.map(unit),
        },
      ],
      series: [{}, ...curves.map((curve) => seriesOf(host, curve))],
    },
    dataOf(readProperties()),
    host,
  );
}

/** Allowed intervals of the time axis. */
const moments = [
  ...[1, 2, 5, 10, 15, 30].map((n) => n * second),
  ...[1, 2, 5, 10, 15, 30].map((n) => n * minute),
  ...[1, 2, 3, 6, 12].map((n) => n * hour),
  ...[1, 2, 7, 14, 28].map((n) => n * day),
];
const withSeconds = new Intl.DateTimeFormat('en-GB', { timeStyle: 'medium' });
const withMinutes = new Intl.DateTimeFormat('en-GB', { timeStyle: 'short' });
const ofDays = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short' });

const momentWords = (at: number, step: number): string =>
  (step < minute ? withSeconds : step < day ? withMinutes : ofDays).format(at);

export function Chart(properties: ChartProperties) {
  const host = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot | null>(null);
  const latest = useRef(properties);
  latest.current = properties;
  const { times, curves, words, height = 180 } = properties;
  // The chart is created anew only if the labels of its curves or its height change.
  const kinds = curves.map(({ label }) => label).join();
  useEffect(() => {
    const element = host.current!;
    const redraw = () => {
      plot.current?.destroy();
      plot.current = draw(element, height, () => latest.current);
    };
    redraw();
    const resized = new ResizeObserver(() => {
      const { clientWidth: width } = element;
      if (width > 0 && plot.current && width !== plot.current.width) plot.current.setSize({ width, height });
    });
    resized.observe(element);
    darkness.addEventListener('change', redraw);
    addEventListener('themechange', redraw);
    return () => {
      resized.disconnect();
      darkness.removeEventListener('change', redraw);
      removeEventListener('themechange', redraw);
      plot.current?.destroy();
      plot.current = null;
    };
  }, [kinds, height]);
  useEffect(() => plot.current?.setData(dataOf(latest.current)), [JSON.stringify([times, curves])]);
  return (
    <figure class="chart">
      <div ref={host} role="img" aria-label={words} style={{ height: `${height}px` }} />
      <figcaption>
        {curves.map(({ label, color, dashed }) => (
          <span key={label} class="key">
            <i class={dashed ? 'dashed' : ''} style={{ borderColor: `var(${color})` }} />
            {label}
          </span>
        ))}
      </figcaption>
    </figure>
  );
}

interface SparklineProperties {
  values: number[];
  top: number;
  words: string;
  color: Curve['color'];
}

/** A small chart within a line of text. */
export function Sparkline({ values, top, words, color }: SparklineProperties) {
  const [width, height] = [120, 28];
  const x = (i: number) => (values.length < 2 ? width : (i / (values.length - 1)) * width);
  const y = (value: number) => height - 1.5 - (Math.min(value, top) / (top || 1)) * (height - 3);
  const line = values.map((value, i) => `${i === 0 ? 'M' : 'L'}${x(i).toFixed(1)} ${y(value).toFixed(1)}`).join('');
  return (
    <svg class="sparkline" viewBox={`0 0 ${width} ${height}`} preserveAspectRatio="none" role="img" aria-label={words}>
      {values.length > 0 && (
        <>
          <path class="fill" d={`${line}V${height}H0Z`} style={{ fill: `var(${color})` }} />
          <path class="line" d={line} style={{ stroke: `var(${color})` }} />
        </>
      )}
    </svg>
  );
}
