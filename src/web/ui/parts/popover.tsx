/** Menus and tooltips based on native popovers. */
import type { ComponentChildren, JSX } from 'preact'
import { useId, useRef, useState } from 'preact/hooks'
import { Icon, type IconName } from './icons.tsx'

const WINDOW_MARGIN = 12

/** Positions a popover within the window: below its button, or above if it does not fit below. */
function positionPopover(box: HTMLElement, button: HTMLElement): void {
  const buttonRect = button.getBoundingClientRect()
  const { offsetWidth: width, offsetHeight: height } = box
  const left = Math.max(WINDOW_MARGIN, Math.min(buttonRect.left, window.innerWidth - width - WINDOW_MARGIN))
  const fitsBelow = buttonRect.bottom + height + WINDOW_MARGIN < window.innerHeight
  const top = fitsBelow ? buttonRect.bottom + 6 : Math.max(WINDOW_MARGIN, buttonRect.top - height - 6)
  box.style.left = `${left}px`
  box.style.top = `${top}px`
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
  const hovering = onHover && {
    onPointerEnter: (event: PointerEvent) => event.pointerType === 'mouse' && box.current?.showPopover(),
    onPointerLeave: (event: PointerEvent) => event.pointerType === 'mouse' && close(),
  }
  return (
    <>
      <button
        ref={button}
        type="button"
        class={buttonClass}
        popovertarget={id}
        aria-expanded={isOpen}
        aria-label={title}
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
        onBeforeToggle={(event) => event.newState === 'open' && setOpen(true)}
        onToggle={(event) => {
          const opened = event.newState === 'open'
          setOpen(opened)
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
