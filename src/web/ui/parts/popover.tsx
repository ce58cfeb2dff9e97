/** Menus and tooltips based on native popovers. */
import type { ComponentChildren, JSX } from 'preact'
import { useId, useRef, useState } from 'preact/hooks'
import { Icon, type IconName } from './icons.tsx'

const WINDOW_MARGIN = 12

/** Positions a popover within the window: below its button, or above if it does not fit below. */
function positionPopover(box: HTMLElement, button: HTMLElement): void {
  const buttonRect = button.getBoundingClientRect()
  // Without scrollbars, unlike the window’s size.
  const { clientWidth: pageWidth, clientHeight: pageHeight } = document.documentElement
  const { offsetWidth: width, offsetHeight: height } = box
  const left = Math.max(WINDOW_MARGIN, Math.min(buttonRect.left, pageWidth - width - WINDOW_MARGIN))
  const fitsBelow = buttonRect.bottom + height + WINDOW_MARGIN < pageHeight
  const top = fitsBelow ? buttonRect.bottom + 6 : Math.max(WINDOW_MARGIN, buttonRect.top - height - 6)
  box.style.left = `${left}px`
  box.style.top = `${top}px`
}

/** How long a popover that hovering opened stays open while the pointer moves from its button to its text. */
const HOVER_GRACE_MS = 200

type Hover = {
  onPointerEnter?: (event: PointerEvent) => void
  onPointerLeave?: (event: PointerEvent) => void
  onClick?: (event: MouseEvent) => void
  onToggled: (isOpen: boolean) => void
}

/**
 * Opens a popover while the mouse is on its button or its text (WCAG 1.4.13). A click keeps it open until the next click,
 * Escape, or a click elsewhere.
 */
function useHover(isOn: boolean, box: { current: HTMLDivElement | null }): Hover {
  const isPinned = useRef(false)
  const closing = useRef(0)
  if (!isOn) return { onToggled() {} }
  return {
    onPointerEnter({ pointerType }) {
      clearTimeout(closing.current)
      if (pointerType === 'mouse' && !box.current?.matches(':popover-open')) box.current?.showPopover()
    },
    onPointerLeave({ pointerType }) {
      if (pointerType !== 'mouse' || isPinned.current) return
      closing.current = window.setTimeout(() => box.current?.hidePopover(), HOVER_GRACE_MS)
    },
    onClick(event) {
      // Otherwise the click would close what hovering opened.
      if (!isPinned.current && box.current?.matches(':popover-open')) event.preventDefault()
      isPinned.current = !isPinned.current
    },
    onToggled(isOpen) {
      if (!isOpen) isPinned.current = false
    },
  }
}

type PopoverProps = {
  /** Content of the button. */
  label: ComponentChildren
  buttonClass: string
  /** Accessible name if `label` has no text. */
  title?: string | undefined
  class: string
  role?: 'dialog' | 'menu' | 'group'
  /** Renders the content while open. */
  children: (close: () => void) => ComponentChildren
  onHover?: boolean
}

/** A button with a popover. Escape or a click outside closes it and returns focus to the button. */
export function Popover({
  label,
  buttonClass,
  title,
  class: className,
  role = 'group',
  children,
  onHover,
}: PopoverProps): JSX.Element {
  const id = useId()
  const box = useRef<HTMLDivElement>(null)
  const button = useRef<HTMLButtonElement>(null)
  const [isOpen, setOpen] = useState(false)
  const close = (): void => box.current?.hidePopover()
  const { onToggled, onClick, ...hovering } = useHover(onHover === true, box)
  return (
    <>
      <button
        ref={button}
        type="button"
        class={buttonClass}
        popovertarget={id}
        aria-expanded={isOpen}
        aria-label={title}
        onClick={onClick}
        {...hovering}
      >
        {label}
      </button>
      {/* biome-ignore lint/a11y/useAriaPropsSupportedByRole: every role that this element can have supports a label */}
      <div
        ref={box}
        id={id}
        popover="auto"
        role={role}
        aria-label={title}
        class={className}
        {...hovering}
        onBeforeToggle={(event) => event.newState === 'open' && setOpen(true)}
        onToggle={(event) => {
          const opened = event.newState === 'open'
          setOpen(opened)
          onToggled(opened)
          if (opened && box.current && button.current) positionPopover(box.current, button.current)
        }}
      >
        {isOpen && children(close)}
      </div>
    </>
  )
}

/** An info button with a definition. */
export const Tip = ({ title, children }: { title: string; children: ComponentChildren }): JSX.Element => (
  <span class="tip">
    <Popover
      label={<Icon name="info" />}
      buttonClass=""
      title={`What is ${title}?`}
      class="tip-text"
      role="dialog"
      onHover
    >
      {() => children}
    </Popover>
  </span>
)

type PickLabelProps = { title: string; icon?: IconName | undefined; children: ComponentChildren }
/** The label of a menu button: the current choice, with the menu's title for screen readers. */
export const PickLabel = ({ title, icon, children }: PickLabelProps): JSX.Element => (
  <>
    {icon && <Icon name={icon} />}
    <span class="spoken">{title}: </span>
    {children}
    <Icon name="caret" class="caret" />
  </>
)

type MenuSearchProps = { label: string; text: string; onInput: (text: string) => void }
/** The search field at the top of a long menu. */
export const MenuSearch = ({ label, text, onInput }: MenuSearchProps): JSX.Element => (
  <input
    class="input slim menu-search"
    type="search"
    aria-label={label}
    placeholder={label}
    value={text}
    onInput={(event) => onInput(event.currentTarget.value)}
  />
)

type PickProps<Value extends string> = {
  title: string
  value: Value
  choices: readonly { value: Value; title: string }[]
  onPick: (value: Value) => void
  icon?: Parameters<typeof Icon>[0]['name']
}

/** A menu in which one choice is selected. */
export const Pick = <Value extends string>({
  title,
  value,
  choices,
  onPick,
  icon,
}: PickProps<Value>): JSX.Element => (
  <Popover
    label={
      <PickLabel title={title} icon={icon}>
        {choices.find((one) => one.value === value)?.title ?? value}
      </PickLabel>
    }
    buttonClass="pick"
    class="menu"
  >
    {(close) => (
      <fieldset class="plain-set">
        <legend class="group">{title}</legend>
        {choices.map((one) => (
          <label key={one.value}>
            <input
              type="radio"
              name={title}
              checked={one.value === value}
              onClick={() => {
                close()
                if (one.value !== value) onPick(one.value)
              }}
            />
            {one.title}
          </label>
        ))}
      </fieldset>
    )}
  </Popover>
)

/** A segmented control. */
export const Segments = <Value extends string>({
  title,
  value,
  choices,
  onPick,
}: PickProps<Value>): JSX.Element => (
  <fieldset class="segments plain-set" aria-label={title}>
    {choices.map((one) => (
      <button
        key={one.value}
        type="button"
        aria-pressed={one.value === value}
        onClick={() => onPick(one.value)}
      >
        {one.title}
      </button>
    ))}
  </fieldset>
)
