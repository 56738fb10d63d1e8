//! What the browser does with the boxes of a list.

use std::cell::Cell;

use leptos::prelude::document;
use wasm_bindgen::JsCast;
use wasm_bindgen::closure::Closure;
use web_sys::{Element, HtmlInputElement, MouseEvent, NodeList};

thread_local! {
    /// The box that was ticked last: the other end of a range.
    static LAST: Cell<Option<u32>> = const { Cell::new(None) };
}

/// Counts what is ticked now, which a browser may have kept over a reload, and listens.
pub(super) fn start() {
    let Some(table) = find(".joblist table") else {
        return;
    };
    let clicked = Closure::<dyn Fn(MouseEvent)>::new(clicked);
    let _ = table.add_event_listener_with_callback("click", clicked.as_ref().unchecked_ref());
    // The listener lives as long as the page.
    clicked.forget();
    count();
}

/// The box of the toolbar ticks every row, or none.
pub(super) fn tick_all() {
    let on = find("#sel-all")
        .and_then(|element| element.dyn_into::<HtmlInputElement>().ok())
        .is_some_and(|input| input.checked());
    if let Some(boxes) = boxes() {
        for index in 0..boxes.length() {
            set(&boxes, index, on);
        }
    }
    LAST.set(None);
    count();
}

fn clicked(event: MouseEvent) {
    let Some(target) = event.target() else {
        return;
    };
    let Some(boxes) = boxes() else {
        return;
    };
    let hit = (0..boxes.length())
        .find(|&index| boxes.item(index).is_some_and(|node| target == node.into()));
    let Some(hit) = hit else {
        return;
    };
    if let (true, Some(last)) = (event.shift_key(), LAST.get()) {
        let on = target
            .dyn_ref::<HtmlInputElement>()
            .is_some_and(HtmlInputElement::checked);
        for index in last.min(hit)..=last.max(hit) {
            set(&boxes, index, on);
        }
    }
    LAST.set(Some(hit));
    count();
}

/// Says how many are ticked, in the toolbar and on its buttons.
fn count() {
    let Some(boxes) = boxes() else {
        return;
    };
    let ticked = (0..boxes.length())
        .filter(|&index| input(&boxes, index).is_some_and(|input| input.checked()))
        .count();
    if let Some(words) = find("#sel-count") {
        let text = match ticked {
            0 => "Tick rows to act on them".to_owned(),
            ticked => format!("{ticked} ticked"),
        };
        words.set_text_content(Some(&text));
    }
    if let Some(all) = find("#sel-all").and_then(|all| all.dyn_into::<HtmlInputElement>().ok()) {
        let every = ticked == boxes.length() as usize;
        all.set_checked(ticked > 0 && every);
        all.set_indeterminate(ticked > 0 && !every);
    }
    let figure = if ticked == 0 {
        String::new()
    } else {
        ticked.to_string()
    };
    if let Ok(buttons) = document().query_selector_all("button[data-verb]") {
        for index in 0..buttons.length() {
            let Some(button) = buttons
                .item(index)
                .and_then(|node| node.dyn_into::<Element>().ok())
            else {
                continue;
            };
            let _ = button.toggle_attribute_with_force("disabled", ticked == 0);
            if let Ok(Some(number)) = button.query_selector(".sel-n") {
                number.set_text_content(Some(&figure));
            }
        }
    }
}

fn find(selector: &str) -> Option<Element> {
    document().query_selector(selector).ok().flatten()
}

fn boxes() -> Option<NodeList> {
    document()
        .query_selector_all("input[type=checkbox][name=item]")
        .ok()
}

fn input(boxes: &NodeList, index: u32) -> Option<HtmlInputElement> {
    boxes.item(index)?.dyn_into().ok()
}

fn set(boxes: &NodeList, index: u32, on: bool) {
    if let Some(input) = input(boxes, index) {
        input.set_checked(on);
    }
}
