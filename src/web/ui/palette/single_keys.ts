/** Switches the shortcuts of single keys on and off. */

export const setSingleKeys = (isOn: boolean): void => localStorage.setItem('single_keys', isOn ? 'on' : 'off')
