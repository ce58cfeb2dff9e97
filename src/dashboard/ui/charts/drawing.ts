/** How a chart over time is told to uPlot: series, axes, the seam. */
import uPlot from 'uplot'
import { colour, hueColour } from './colours.ts'
import { stacked, sureOf, unsureOf, type Values } from './stacking.ts'
import type { Line, TimeChartProps } from './time_chart.tsx'

const HATCH = 6

/** Strokes across: a bar that may still grow. */
function hatched(ink: string): CanvasPattern | string {
  const tile = document.createElement('canvas')
  tile.width = HATCH
  tile.height = HATCH
  const pen = tile.getContext('2d')
  if (!pen) return ink
  pen.strokeStyle = ink
  pen.lineWidth = 1.6
  for (const shift of [-HATCH, 0, HATCH]) {
    pen.moveTo(shift, HATCH)
    pen.lineTo(shift + HATCH, 0)
  }
  pen.stroke()
  return pen.createPattern(tile, 'repeat') ?? ink
}

const bars = uPlot.paths.bars?.({ size: [0.72, 48], radius: 0.12 })
const AREA = 0.14

function withAlpha(rgb: string, alpha: number): string {
  return rgb.startsWith('rgb(') ? rgb.replace('rgb(', 'rgba(').replace(')', `, ${alpha})`) : rgb
}

function seriesOf(line: Line, isSure: boolean, isFilled: boolean): uPlot.Series {
  const ink = line.isBefore ? colour('--ink-3') : hueColour(line.hue)
  if (line.style === 'bar') {
    const fill = isSure ? ink : hatched(ink)
    return {
      ...(bars && { paths: bars }),
      fill: fill as string,
      stroke: ink,
      width: isSure ? 0 : 1,
      points: { show: false },
    }
  }
  const isDashed = line.isBefore || !isSure
  return {
    stroke: ink,
    width: line.isBefore ? 1.25 : 2,
    ...(isDashed && { dash: line.isBefore ? [2, 4] : [5, 4] }),
    ...(isFilled && isSure && !line.isBefore && { fill: withAlpha(ink, AREA) }),
    points: { show: isSure && line.values.filter((value) => value !== null).length === 1, size: 6 },
    spanGaps: false,
  }
}

/** The columns uPlot draws, and their series; of stacked ones the uppermost first, so that each shows its own part. */
export function columnsOf({ lines, complete, isStacked = false }: TimeChartProps): {
  data: uPlot.AlignedData
  series: uPlot.Series[]
} {
  const own = lines.filter((line) => !line.isBefore)
  const heights = new Map<Line, Values>()
  const laid = isStacked ? stacked(own.map(({ values }) => values)) : own.map(({ values }) => values)
  for (const [index, line] of own.entries()) heights.set(line, laid[index] ?? line.values)
  const isFilled = own.length === 1
  const columns: Values[] = []
  const series: uPlot.Series[] = []
  for (const line of isStacked ? lines.toReversed() : lines) {
    const values = heights.get(line) ?? line.values
    const isLine = line.style === 'line'
    const sure = line.isBefore ? values : sureOf(values, complete)
    columns.push(sure)
    series.push(seriesOf(line, true, isFilled))
    if (line.isBefore || complete.every(Boolean)) continue
    columns.push(unsureOf(values, complete, isLine))
    series.push(seriesOf(line, false, isFilled))
  }
  const places = complete.map((_, index) => index)
  return { data: [places, ...columns] as uPlot.AlignedData, series: [{}, ...series] }
}

/** From a little below the least to a little above the most, zero within where bars or sums stand on it. */
function rangeOf(props: TimeChartProps): uPlot.Range.Function {
  return (_, least, most) => {
    const low = Math.min(0, least ?? 0)
    const high = Math.max(0, most ?? 0)
    const room = (high - low || 1) * 0.06
    return [low < 0 ? low - room : (props.floor ?? 0), high + room]
  }
}

/** A line down at each seam, with dots, behind the data. */
const seamsOf =
  ({ seams = [], on }: TimeChartProps) =>
  (plot: uPlot): void => {
    const pen = plot.ctx
    for (const seam of seams) {
      const index = on.findLastIndex((each) => each <= seam.on)
      if (index < 0 || (on[0] ?? '') > seam.on) continue
      const x = Math.round(plot.valToPos(index, 'x', true))
      pen.save()
      pen.strokeStyle = colour('--line-strong')
      pen.lineWidth = devicePixelRatio
      pen.setLineDash([2 * devicePixelRatio, 3 * devicePixelRatio])
      pen.beginPath()
      pen.moveTo(x, plot.bbox.top)
      pen.lineTo(x, plot.bbox.top + plot.bbox.height)
      pen.stroke()
      pen.restore()
    }
  }

/** Everything but the size. `onPlace` hears which point the cursor is at. */
export function optionsOf(
  props: TimeChartProps,
  series: uPlot.Series[],
  onPlace: (index: number | null) => void,
): Omit<uPlot.Options, 'width' | 'height'> {
  const ink = colour('--ink-3')
  const line = colour('--line')
  const font = `11px ${getComputedStyle(document.body).fontFamily}`
  const last = props.on.length - 1
  return {
    series,
    padding: [8, 8, 0, 0],
    legend: { show: false },
    cursor: { y: false, drag: { x: false, y: false }, points: { show: false } },
    scales: {
      x: { time: false, range: [-0.5, last + 0.5] },
      y: { range: rangeOf(props) },
    },
    axes: [
      {
        stroke: ink,
        font,
        grid: { show: false },
        ticks: { show: false },
        gap: 4,
        size: 24,
        space: 70,
        incrs: [1, 2, 3, 5, 7, 14, 30, 60, 90, 180, 365],
        values: (_, places) =>
          places.map((place) =>
            Number.isInteger(place) && props.on[place] ? props.axis(props.on[place]) : '',
          ),
      },
      {
        stroke: ink,
        font,
        grid: { stroke: line, width: 1 },
        ticks: { show: false },
        gap: 6,
        size: (_, words) => 14 + Math.max(24, ...(words ?? []).map((word) => word.length * 6.4)),
        space: 36,
        values: (_, values) => values.map((value) => props.short(value)),
      },
    ],
    hooks: {
      drawClear: [seamsOf(props)],
      setCursor: [(plot) => onPlace(plot.cursor.idx ?? null)],
    },
  }
}
