/** Runs the script of the widget in an imitation of Scriptable (https://docs.scriptable.app), and returns what it drew. */
import { runInNewContext } from 'node:vm'

/** What the server answers; null if it cannot be reached. */
type Answer = { status: number; body: unknown } | null
type Options = { family: string | null; answer: Answer; files: Map<string, string>; parameter?: string }
type Color = { light: { hex: string }; dark: { hex: string } }
/** What a widget or a stack has, in order. A spacer without `length` takes the rest. `path` is that of an SVG. */
export type Part =
  | {
      kind: 'text'
      text: string
      font: { size: number; isBold: boolean }
      textColor: Color | null
      lineLimit: number
      minimumScaleFactor: number
    }
  | { kind: 'image'; path: string; width: number; height: number; color: Color | null }
  | { kind: 'spacer'; length: number | null }
  | { kind: 'stack'; isVertical: boolean; parts: Part[] }

/** `texts` are the drawn texts in order; `requests` what was asked. */
export type Drawn = {
  parts: Part[]
  backgroundColor: Color | undefined
  texts: string[]
  images: number
  url: string | undefined
  background: boolean
  requests: { url: string; headers: Record<string, string>; timeoutInterval: number }[]
  isCompleted: boolean
  isPresented: boolean
  refreshAfterDate: Date | undefined
}

const PLAIN = {
  font: { size: 16, isBold: false },
  textColor: null,
  lineLimit: 0,
  minimumScaleFactor: 1,
} as const

type Size = { width: number; height: number }

/** What draws spark lines, as the path of an SVG. */
const DRAWING = {
  Path: function Path() {
    const path = {
      d: '',
      move: (point: object) => {
        path.d += `M${point}`
      },
      addLine: (point: object) => {
        path.d += `L${point}`
      },
    }
    return path
  },
  DrawContext: function DrawContext() {
    const image = { path: '', color: null as Color | null }
    const context = {
      size: { width: 0, height: 0 } satisfies Size,
      addPath: ({ d }: { d: string }) => {
        image.path = d
      },
      setStrokeColor: (color: Color) => {
        image.color = color
      },
      setLineWidth() {},
      strokePath() {},
      getImage: () => ({ ...image, ...context.size }),
    }
    return context
  },
}

/** The script ends with statements that await, so it becomes the body of a function. */
export async function runScript(
  script: string,
  { family, answer, files, parameter }: Options,
): Promise<Drawn> {
  const drawn: Drawn = {
    parts: [],
    backgroundColor: undefined,
    texts: [],
    images: 0,
    url: undefined,
    background: false,
    requests: [],
    isCompleted: false,
    isPresented: false,
    refreshAfterDate: undefined,
  }
  const stackOf = (parts: Part[]) => ({
    kind: 'stack' as const,
    isVertical: false,
    parts,
    addText(text: string) {
      if (typeof text !== 'string') throw new TypeError('addText takes a text')
      drawn.texts.push(text)
      const part: Part = { kind: 'text', text, ...PLAIN }
      parts.push(part)
      return Object.assign(part, { centerAlignText() {} })
    },
    addImage(image: Omit<Part & { kind: 'image' }, 'kind'>) {
      drawn.images += 1
      parts.push({ kind: 'image', ...image })
    },
    addStack() {
      const stack = stackOf([])
      parts.push(stack)
      return stack
    },
    addSpacer: (length: number | null = null) => void parts.push({ kind: 'spacer', length }),
    layoutVertically() {
      this.isVertical = true
    },
    centerAlignContent: () => {},
  })
  const widgets: Record<string, unknown>[] = []
  const globals = {
    ListWidget: function ListWidget() {
      const widget = {
        ...stackOf(drawn.parts),
        presentMedium: async () => {
          drawn.isPresented = true
        },
      }
      widgets.push(widget)
      return widget
    },
    Request: function Request(url: string) {
      const request = {
        url,
        headers: {} as Record<string, string>,
        timeoutInterval: 60,
        response: { statusCode: 0 },
        async loadJSON() {
          drawn.requests.push({ url, headers: { ...this.headers }, timeoutInterval: this.timeoutInterval })
          if (answer === null) throw new Error('The Internet connection appears to be offline.')
          this.response.statusCode = answer.status
          return answer.body
        },
      }
      return request
    },
    FileManager: {
      local: () => ({
        documentsDirectory: () => '/documents',
        joinPath: (folder: string, name: string) => `${folder}/${name}`,
        fileExists: (path: string) => files.has(path),
        readString: (path: string) => files.get(path),
        writeString: (path: string, text: string) => void files.set(path, text),
        remove: (path: string) => void files.delete(path),
      }),
    },
    Color: Object.assign(
      function Color(hex: string) {
        return { hex }
      },
      { dynamic: (light: object, dark: object) => ({ light, dark }) },
    ),
    Font: {
      systemFont: (size: number) => ({ size, isBold: false }),
      semiboldSystemFont: (size: number) => ({ size, isBold: true }),
    },
    Size: function Size(width: number, height: number) {
      return { width, height }
    },
    Point: function Point(x: number, y: number) {
      return { toString: () => `${x} ${y}` }
    },
    ...DRAWING,
    Script: {
      setWidget: () => {},
      complete: () => {
        drawn.isCompleted = true
      },
    },
    config: {
      widgetFamily: family,
      runsInWidget: family !== null && !family.startsWith('accessory'),
      runsInAccessoryWidget: family?.startsWith('accessory') ?? false,
    },
    args: { widgetParameter: parameter ?? null },
  }
  await runInNewContext(`(async () => {${script}\n})()`, globals)
  const [widget] = widgets
  drawn.url = widget?.url as string | undefined
  drawn.background = widget?.addAccessoryWidgetBackground === true
  drawn.backgroundColor = widget?.backgroundColor as Color | undefined
  drawn.refreshAfterDate = widget?.refreshAfterDate as Date | undefined
  return drawn
}
